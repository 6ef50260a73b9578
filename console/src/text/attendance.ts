export const attendance = {
  title: 'Attendance',
} as const
