/**
 * HTML of an e-mail in a frame that runs nothing. The frame is the guard; what is taken out before only keeps the
 * browser from complaining about what it would refuse anyway, and style elements get the page's nonce so that they count.
 */
import { useMemo } from 'react'

type MailFrameProps = { html: string; title: string; className?: string | undefined; height?: number }

export function MailFrame({ html, title, className, height = 360 }: MailFrameProps) {
  const shown = useMemo(() => prepareMail(html), [html])
  return (
    <iframe
      sandbox=""
      srcDoc={shown}
      title={title}
      className={className}
      style={{ display: 'block', width: '100%', height, border: 0, background: '#ffffff' }}
    />
  )
}

const refusedElements = 'script, iframe, object, embed, link, base, meta, frame, frameset, audio, video, svg'

function prepareMail(html: string): string {
  const nonce = document.querySelector<HTMLElement>('[nonce]')?.nonce ?? ''
  // Before it is parsed: the policy already counts there.
  const page = new DOMParser().parseFromString(
    html.replace(/<style\b/gi, `<style nonce="${nonce}"`),
    'text/html',
  )
  for (const element of page.querySelectorAll(refusedElements)) element.remove()
  for (const style of page.querySelectorAll('style')) style.textContent = withoutAddresses(style.textContent)
  for (const element of page.querySelectorAll('*')) {
    for (const name of element.getAttributeNames())
      if (/^on|^(?:srcset|background|action|formaction|poster|autofocus)$/i.test(name))
        element.removeAttribute(name)
    const style = element.getAttribute('style')
    if (style) element.setAttribute('style', withoutAddresses(style))
    if (element.hasAttribute('src')) keepOwnPicture(element)
    // A frame without scripts cannot be left either, but a link that does nothing is a riddle.
    if (element.hasAttribute('href')) element.setAttribute('href', '#')
  }
  return `<!doctype html>${page.documentElement.outerHTML}`
}

const withoutAddresses = (css: string): string =>
  css.replace(/url\([^)]*\)/gi, 'none').replace(/@import[^;]*;?/gi, '')

const mediaPath = /\/media\/[0-9a-f]{32}\.[a-z0-9]{1,8}$/i

/** Of the media library, wherever the installation's public address leads; others show their words instead. */
function keepOwnPicture(element: Element): void {
  const source = element.getAttribute('src') ?? ''
  const own = mediaPath.exec(source.replace(/[?#].*$/s, ''))?.[0]
  if (element.localName === 'img' && own) element.setAttribute('src', own)
  else if (!/^data:image\/(?:png|jpeg|gif|webp);/i.test(source)) element.removeAttribute('src')
}
