/** Something to know, on a coloured ground that can be read in light and dark. */
import { Title } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './notice.module.css'
import type { Tone } from './tag.tsx'

type NoticeProps = { tone: Tone; icon: Icon; title: string; children?: ReactNode }

export function Notice({ tone, icon: Icon, title, children }: NoticeProps) {
  return (
    <section className={classes['notice']} data-tone={tone} aria-label={title}>
      <Icon size={20} aria-hidden />
      <div className={classes['words']}>
        <Title order={2} className={classes['title']}>
          {title}
        </Title>
        {children}
      </div>
    </section>
  )
}
