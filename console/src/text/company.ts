export const company = {
  title: 'Integration',
} as const
