export const callbacks = {
  title: 'Callbacks',
} as const
