/** Which tab of a page is open, kept in the address. */
import { useLocation, useNavigate } from '@tanstack/react-router'

export function useTab<T extends string>(
  tabs: readonly T[],
  name = 'tab',
): [T, (tab: string | null) => void] {
  const navigate = useNavigate()
  const search = useLocation({ select: (location) => location.search as Record<string, string> })
  const first = tabs[0]!
  const open = tabs.find((tab) => tab === search[name]) ?? first
  const setOpen = (tab: string | null) =>
    void navigate({
      to: '.',
      // Other tabs have other lists: their filters and pages do not belong to this one.
      search: tab === null || tab === first ? {} : { [name]: tab },
      replace: true,
      resetScroll: false,
    })
  return [open, setOpen]
}
