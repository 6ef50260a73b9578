export const templates = {
  title: 'Templates',
} as const
