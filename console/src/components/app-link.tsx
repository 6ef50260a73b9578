/** A link within the console: `<AppLink to="/messages/$id" params={{ id }}>…</AppLink>`. */
import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import { forwardRef, type AnchorHTMLAttributes } from 'react'

type Html<P> = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof P>

const AnchorOfRouter = forwardRef<HTMLAnchorElement, AnchorProps & Html<AnchorProps>>((props, ref) => (
  <Anchor ref={ref} {...props} />
))
AnchorOfRouter.displayName = 'AnchorOfRouter'

const ButtonOfRouter = forwardRef<HTMLAnchorElement, ButtonProps & Html<ButtonProps>>((props, ref) => (
  <Button component="a" ref={ref} {...props} />
))
ButtonOfRouter.displayName = 'ButtonOfRouter'

export const AppLink = createLink(AnchorOfRouter)
/** Looks like a button, goes to a page. */
export const LinkButton = createLink(ButtonOfRouter)
