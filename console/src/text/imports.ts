/** How an import is doing: the same for contacts and restriction lists. */
export const imports = {
  states: { uploading: 'Being sent', queued: 'Waiting', running: 'Running', done: 'Done', failed: 'Failed' },
  running: (file: string) => `Importing ${file}`,
  waiting: (file: string) => `${file} waits for its turn`,
  doneTitle: (file: string) => `${file} was imported`,
  failedTitle: (file: string) => `${file} could not be imported`,
  read: 'Lines read',
  added: 'Added',
  changed: 'Changed',
  unchanged: 'Unchanged',
  bad: 'Not taken',
  badTitle: 'Lines that were not taken',
  badHint: (shown: number, all: number) =>
    shown < all
      ? `The first ${shown} of ${all}. The file has all of them.`
      : 'Correct them in your file and import it again: what is in stays in.',
  line: 'Line',
  reason: 'Reason',
  download: 'Download as CSV',
} as const
