/** A word on a coloured ground; the colour never says anything that the word does not. */
import type { ReactNode } from 'react'
import classes from './tag.module.css'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'neutral'

export function Tag({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={classes['tag']} data-tone={tone}>
      {children}
    </span>
  )
}
