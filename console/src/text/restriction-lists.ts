export const restrictionLists = {
  title: 'Restriction lists',
} as const
