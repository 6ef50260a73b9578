export const signIn = {
  title: 'Sign in',
  lead: 'The console of your messaging platform.',
  company: 'Company',
  username: 'User',
  password: 'Password',
  code: 'Code',
  codeTitle: 'Second factor',
  codeHint: 'Six digits from your authenticator app, or one of your recovery codes.',
  submit: 'Sign in',
  confirm: 'Confirm',
  back: 'Back',
  missing: 'Fill this in.',
  wrong: 'Company, user or password is wrong.',
  wrongCode: 'This code is wrong or was used already.',
  firstTime:
    'First start? Company, user and password are in quickstart.json in the data folder, and were printed when Pombo started.',
} as const
