/** Every word that people read, by page. English; another language is another set of the same shape. */
import { account } from './account.ts'
import { attendance } from './attendance.ts'
import { audit } from './audit.ts'
import { callbacks } from './callbacks.ts'
import { channels } from './channels.ts'
import { common } from './common.ts'
import { company } from './company.ts'
import { contacts } from './contacts.ts'
import { conversation } from './conversation.ts'
import { dashboard } from './dashboard.ts'
import { imports } from './imports.ts'
import { media } from './media.ts'
import { message, messages } from './messages.ts'
import { navigation } from './navigation.ts'
import { reference } from './reference.ts'
import { reports } from './reports.ts'
import { restrictionLists } from './restriction-lists.ts'
import { rules } from './rules.ts'
import { sandbox } from './sandbox.ts'
import { schemaForm } from './schema-form.ts'
import { segments } from './segments.ts'
import { signIn } from './sign-in.ts'
import { templates } from './templates.ts'
import { timeline } from './timeline.ts'
import { users } from './users.ts'
import { verdicts } from './verdicts.ts'

export const text = {
  account,
  attendance,
  audit,
  callbacks,
  channels,
  common,
  company,
  contacts,
  conversation,
  dashboard,
  imports,
  media,
  message,
  messages,
  navigation,
  reference,
  reports,
  restrictionLists,
  rules,
  sandbox,
  schemaForm,
  segments,
  signIn,
  templates,
  timeline,
  users,
  verdicts,
}
