/** What the navigation offers, in groups. An entry is shown to those who may call the route that its page reads. */
import {
  IconAddressBook,
  IconApi,
  IconBroadcast,
  IconBuilding,
  IconChartBar,
  IconGauge,
  IconHeadset,
  IconHistory,
  IconListCheck,
  IconMessages,
  IconPhoto,
  IconPlayerPlay,
  IconShieldOff,
  IconTags,
  IconTemplate,
  IconUsers,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react'
import type { Route } from '../api.ts'
import { text } from '../text/index.ts'

export type NavigationEntry = { to: string; label: string; icon: Icon; needs: Route }
export type NavigationGroup = { label: string; entries: readonly NavigationEntry[] }

const words = text.navigation

export const groups: readonly NavigationGroup[] = [
  {
    label: words.groups.watch,
    entries: [
      { to: '/', label: words.dashboard, icon: IconGauge, needs: 'GET /events' },
      { to: '/messages', label: words.messages, icon: IconMessages, needs: 'GET /messages' },
      { to: '/reports', label: words.reports, icon: IconChartBar, needs: 'GET /reports' },
    ],
  },
  {
    label: words.groups.people,
    entries: [
      { to: '/contacts', label: words.contacts, icon: IconAddressBook, needs: 'GET /contacts' },
      { to: '/attendance', label: words.attendance, icon: IconHeadset, needs: 'GET /attendances' },
    ],
  },
  {
    label: words.groups.content,
    entries: [
      { to: '/templates', label: words.templates, icon: IconTemplate, needs: 'GET /templates' },
      { to: '/media', label: words.media, icon: IconPhoto, needs: 'GET /media' },
    ],
  },
  {
    label: words.groups.delivery,
    entries: [
      { to: '/channels', label: words.channels, icon: IconBroadcast, needs: 'GET /lines' },
      { to: '/rules', label: words.rules, icon: IconListCheck, needs: 'GET /rules' },
      {
        to: '/restriction-lists',
        label: words.restrictionLists,
        icon: IconShieldOff,
        needs: 'GET /restriction-lists',
      },
      { to: '/callbacks', label: words.callbacks, icon: IconWebhook, needs: 'GET /callbacks' },
    ],
  },
  {
    label: words.groups.company,
    entries: [
      { to: '/segments', label: words.segments, icon: IconTags, needs: 'GET /segments' },
      { to: '/users', label: words.users, icon: IconUsers, needs: 'GET /users' },
      { to: '/settings/company', label: words.company, icon: IconBuilding, needs: 'PATCH /company' },
      { to: '/audit', label: words.audit, icon: IconHistory, needs: 'GET /audit' },
      { to: '/sandbox', label: words.sandbox, icon: IconPlayerPlay, needs: 'GET /sandbox' },
      { to: '/reference', label: words.reference, icon: IconApi, needs: 'GET /apis' },
    ],
  },
]
