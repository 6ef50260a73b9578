export const schemaForm = {
  secretKept: 'Set. Leave empty to keep it.',
  secretRemove: (title: string) => `Remove: ${title}`,
  secretWillGo: 'Will be removed when you save.',
  atLeast: (value: string) => `at least ${value}`,
  atMost: (value: string) => `at most ${value}`,
  between: (low: string, high: string) => `${low} to ${high}`,
  usually: (value: string) => `usually ${value}`,
  notSet: 'Not set',
  addItem: (title: string) => `Type and press Enter to add to: ${title}`,
  group: (name: string, count: number) => `${name} (${count} settings)`,
} as const
