/** One value of the address that is no filter of a list: a range, a switch. */
import { useLocation, useNavigate } from '@tanstack/react-router'

/** What equals `initial` is left out of the address. */
export function useSearchParam<T extends string>(name: string, initial: T): [T, (value: T) => void] {
  const navigate = useNavigate()
  const search = useLocation({ select: (location) => location.search as Record<string, string> })
  const set = (value: T) => {
    const { [name]: _, ...others } = search
    void navigate({
      to: '.',
      search: value === initial ? others : { ...others, [name]: value },
      replace: true,
      resetScroll: false,
    })
  }
  return [(search[name] ?? initial) as T, set]
}
