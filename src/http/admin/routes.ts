/** Every route of the admin API behind the door; signing in and out stand before it, in `index.ts`. */
import { accountRoutes } from './account.ts'
import { adminKeyRoutes } from './admin-keys.ts'
import { apiRoutes } from './apis.ts'
import { attendanceRoutes } from './attendances.ts'
import { callbackRoutes } from './callbacks.ts'
import { companyRoutes } from './companies.ts'
import { contactRoutes } from './contacts.ts'
import { conversationRoutes } from './conversations.ts'
import { directTokenRoutes } from './direct-tokens.ts'
import { eventRoutes } from './events.ts'
import { importRoutes } from './imports.ts'
import { lineRoutes } from './lines.ts'
import { mediaRoutes } from './media.ts'
import { messageRoutes } from './messages.ts'
import { overviewRoutes } from './overviews.ts'
import { reportRoutes } from './reports.ts'
import { restrictionListRoutes } from './restriction-lists.ts'
import type { Route } from './route.ts'
import { ruleRoutes } from './rules.ts'
import { sandboxRoutes } from './sandbox.ts'
import { segmentRoutes } from './segments.ts'
import { sessionRoutes } from './session.ts'
import { templateApprovalRoutes } from './template-approval.ts'
import { templateRoutes } from './templates.ts'
import { testLineRoutes } from './test-line.ts'
import { testTemplateRoutes } from './test-template.ts'
import { userRoutes } from './users.ts'

export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...accountRoutes,
  ...companyRoutes,
  ...userRoutes,
  ...segmentRoutes,
  ...lineRoutes,
  ...testLineRoutes,
  ...templateRoutes,
  ...templateApprovalRoutes,
  ...testTemplateRoutes,
  ...mediaRoutes,
  ...contactRoutes,
  ...conversationRoutes,
  ...attendanceRoutes,
  ...ruleRoutes,
  ...restrictionListRoutes,
  ...importRoutes,
  ...messageRoutes,
  ...reportRoutes,
  ...callbackRoutes,
  ...directTokenRoutes,
  ...adminKeyRoutes,
  ...overviewRoutes,
  ...eventRoutes,
  ...apiRoutes,
  ...sandboxRoutes,
]
