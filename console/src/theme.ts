/** Colours and sizes. Texts on every ground have a contrast of at least 4.5, in light and dark. */
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'
import { text } from './text/index.ts'

/** The blue-green of a pigeon's neck. */
const pombo: MantineColorsTuple = [
  '#eaf5f9',
  '#d6e7ee',
  '#abcfdd',
  '#7cb5cb',
  '#569fbc',
  '#3e92b3',
  '#2f8bb0',
  '#1f5f78',
  '#195067',
  '#0d3c4f',
]

/** Greys of the dark scheme, with a little of the same blue. */
const dark: MantineColorsTuple = [
  '#d5dce1',
  '#b6c1c9',
  '#98a5ae',
  '#6d7a83',
  '#39444c',
  '#2a333a',
  '#1d2429',
  '#14191d',
  '#101417',
  '#0b0e10',
]

export const theme = createTheme({
  primaryColor: 'pombo',
  colors: { pombo, dark },
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '0.9375rem' } },
  },
  components: {
    // Its own colour on its pale ground is too pale to read.
    Alert: { defaultProps: { variant: 'light' }, styles: { label: { color: 'var(--mantine-color-text)' } } },
    Button: { defaultProps: { size: 'sm' } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.45 } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': text.common.close } } },
    Select: { defaultProps: { allowDeselect: false, checkIconPosition: 'right' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
})

/** Mantine's own dimmed, error and placeholder colours are too pale to be read by everybody. */
export const cssVariables: CSSVariablesResolver = (mantine) => ({
  variables: {},
  light: {
    '--mantine-color-body': '#fbfcfd',
    '--mantine-color-text': '#1c2328',
    '--mantine-color-dimmed': '#56626b',
    '--mantine-color-placeholder': '#6b767e',
    '--mantine-color-error': mantine.colors.red[9],
    '--pombo-surface': '#ffffff',
    '--pombo-border': '#dfe5e9',
    '--pombo-nav': '#f3f6f8',
    '--pombo-code': '#f3f6f8',
  },
  dark: {
    '--mantine-color-body': '#14191d',
    '--mantine-color-text': '#d5dce1',
    '--mantine-color-dimmed': '#9aa7b0',
    '--mantine-color-placeholder': '#8a969e',
    '--mantine-color-error': mantine.colors.red[3],
    '--mantine-color-anchor': pombo[3],
    '--pombo-surface': '#1b2126',
    '--pombo-border': '#303a41',
    '--pombo-nav': '#171d21',
    '--pombo-code': '#12171a',
  },
})
