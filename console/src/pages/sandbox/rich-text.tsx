/** WhatsApp's own marks (*bold*, _italic_, ~struck~, `code`) as elements; everything else stays text. */
import type { ReactNode } from 'react'

const pattern =
  /```([^`]+)```|`([^`\n]+)`|\*(\S(?:[^*\n]*\S)?)\*|(?<!\w)_(\S(?:[^_\n]*\S)?)_(?!\w)|~(\S(?:[^~\n]*\S)?)~/g

export function RichText({ value }: { value: string }) {
  const parts: ReactNode[] = []
  let last = 0
  for (const match of value.matchAll(pattern)) {
    const [whole, block, code, bold, italic, struck] = match
    parts.push(value.slice(last, match.index))
    const key = match.index
    if (block ?? code) parts.push(<code key={key}>{block ?? code}</code>)
    else if (bold) parts.push(<b key={key}>{bold}</b>)
    else if (italic) parts.push(<em key={key}>{italic}</em>)
    else if (struck) parts.push(<s key={key}>{struck}</s>)
    last = match.index + whole.length
  }
  return [...parts, value.slice(last)]
}
