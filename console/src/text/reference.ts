export const reference = {
  title: 'API reference',
} as const
