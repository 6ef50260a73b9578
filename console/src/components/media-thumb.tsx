/** A file of the media library, small: the picture itself, or a sign of what it is. */
import { IconFileTypePdf, IconVideo } from '@tabler/icons-react'
import type { ItemOf } from '../api.ts'
import classes from './media-picker.module.css'

export type MediaItem = ItemOf<'GET /media'>

/** By its path alone: the public address may be another host than the console's, which shows nothing foreign. */
export const mediaSource = ({ url }: Pick<MediaItem, 'url'>): string => new URL(url).pathname

export function MediaThumb({ item }: { item: MediaItem }) {
  const Icon = item.mimeType.startsWith('video/') ? IconVideo : IconFileTypePdf
  return (
    <span className={classes['thumb']}>
      {item.mimeType.startsWith('image/') ? (
        <img src={mediaSource(item)} alt="" loading="lazy" />
      ) : (
        <Icon size={36} stroke={1.3} aria-hidden />
      )}
    </span>
  )
}
