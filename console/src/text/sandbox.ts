export const sandbox = {
  title: 'Sandbox',
} as const
