import { useEffect, useState } from 'react'

/** The time now, again every so often: for clocks. Whole steps, so that several clocks of a page tick together. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
