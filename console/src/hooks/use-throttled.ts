/** Calls at once, then at most once per interval; what came in between is made up for at its end. */
import { useCallback, useEffect, useRef } from 'react'

export function useThrottled(callback: () => void, intervalMs: number): () => void {
  const latest = useRef(callback)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isWanted = useRef(false)
  useEffect(() => {
    latest.current = callback
  })
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    if (timer.current !== undefined) {
      isWanted.current = true
      return
    }
    const turn = () => {
      timer.current = undefined
      if (!isWanted.current) return
      isWanted.current = false
      latest.current()
      timer.current = setTimeout(turn, intervalMs)
    }
    latest.current()
    timer.current = setTimeout(turn, intervalMs)
  }, [intervalMs])
}
