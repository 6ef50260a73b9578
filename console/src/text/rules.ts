export const rules = {
  title: 'Rules',
} as const
