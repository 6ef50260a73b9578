// Before the first paint, so that a dark page does not flash white. The same key as Mantine's own.
;(() => {
  let chosen = 'auto'
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
  } catch {
    // Storage is switched off: the system decides.
  }
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.mantineColorScheme = isDark ? 'dark' : 'light'
})()
