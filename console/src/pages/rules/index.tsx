/** Rules in their order, and trying a recipient against them. */
import { Button, Tabs } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { Can } from '../../components/can.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Page } from '../../components/page.tsx'
import { useTab } from '../../hooks/use-tab.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import { CreateRuleForm, RuleEditor } from './rule-form.tsx'
import { RuleList } from './rule-list.tsx'
import { TryRecipient } from './try-recipient.tsx'

const words = text.rules

/** `?new=restriction_list&list=lst_…` opens the form with that list: from the page of a list that no rule looks at. */
export function Rules() {
  const can = useCan()
  const search = useLocation({ select: (location) => location.search as Record<string, string> })
  const [open, setOpen] = useState<'new' | { id: string; name: string } | undefined>(
    search['new'] === 'restriction_list' && can('POST /rules') ? 'new' : undefined,
  )
  const [tab, setTab] = useTab(['list', 'try'] as const)
  const close = () => setOpen(undefined)
  const add = (
    <Can do="POST /rules">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen('new')}>
        {words.add}
      </Button>
    </Can>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /rules" actions={tab === 'list' && add}>
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="list">{words.tabs.list}</Tabs.Tab>
          <Tabs.Tab value="try">{words.tabs.try}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="list">
          <RuleList onChange={setOpen} add={add} />
        </Tabs.Panel>
        <Tabs.Panel value="try">
          <TryRecipient />
        </Tabs.Panel>
      </Tabs>
      <FormModal title={words.createTitle} isOpen={open === 'new'} onClose={close} size="lg">
        <CreateRuleForm listId={search['list']} onDone={close} />
      </FormModal>
      {typeof open === 'object' && (
        <FormModal title={words.changeTitle(open.name)} isOpen onClose={close} size="lg">
          <RuleEditor id={open.id} onDone={close} />
        </FormModal>
      )}
    </Page>
  )
}
