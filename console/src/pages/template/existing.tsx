/** A saved template: changed with the version that was opened, so that nobody's work is overwritten unseen. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCopy, IconPower, IconTrash } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { AppLink, LinkButton } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Page } from '../../components/page.tsx'
import { ChannelLabel } from '../../components/state-badge.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiMutation } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import { ApprovalPanel } from './approval-panel.tsx'
import { draftOf, templateOf, type Shape, type TemplateRecord } from './draft.ts'
import { Editor } from './editor.tsx'
import { TestPanel } from './test-panel.tsx'

const words = text.templates

type ExistingTemplateProps = {
  template: TemplateRecord
  version: string | undefined
  /** When the server said so. */
  at: number
  reload(): Promise<void>
  onRemoved(): void
}

const editable = ({ name, code, content }: TemplateRecord) => JSON.stringify([name, code, content])

export function ExistingTemplate({ template, version, at, reload, onRemoved }: ExistingTemplateProps) {
  const can = useCan()
  const { id } = template
  const [shape] = useState<Shape>({ channel: template.channel, kind: template.kind })
  const [base, setBase] = useState(() => ({ template, version, at, draft: draftOf(template) }))
  const isLeaving = useRef(false)
  const form = useApiForm('PUT /templates/:id', {
    initial: base.draft,
    call: (draft) => {
      const { name, code, content } = templateOf(draft, shape)
      return { path: { id }, body: { name, code, content }, version: base.version }
    },
    success: words.saved,
    onSuccess: (saved, savedVersion) => adopt(saved, savedVersion),
  })
  const adopt = (from: TemplateRecord, fromVersion: string | undefined) => {
    const draft = draftOf(from)
    setBase({ template: from, version: fromVersion, at: Date.now(), draft })
    form.reset(draft)
  }
  const isUntouched =
    JSON.stringify(templateOf(form.values, shape)) === JSON.stringify(templateOf(base.draft, shape))
  // The provider's judgement changes the record too: nothing that is being written here.
  const isSameText = editable(template) === editable(base.template)
  // An answer from before the last save knows less than is known here.
  const isNews = version !== base.version && at > base.at
  if (isNews && isSameText) setBase((before) => ({ ...before, template, version }))
  else if (isNews && isUntouched) adopt(template, version)
  const isBehind = isNews && !isSameText

  return (
    <Page
      title={template.name}
      lead={<Lead template={template} />}
      back={<AppLink to="/templates">{words.back}</AppLink>}
      needs="GET /templates/:id"
      actions={
        <Actions
          template={template}
          onRemoved={() => {
            isLeaving.current = true
            onRemoved()
          }}
        />
      }
    >
      <Editor
        form={form}
        shape={shape}
        initial={base.draft}
        isNew={false}
        isReadOnly={!can('PUT /templates/:id')}
        isLeaving={() => isLeaving.current}
        notice={
          <>
            {!template.isEnabled && (
              <Alert color="orange" icon={<IconPower aria-hidden />} c="inherit">
                {words.isOff}
              </Alert>
            )}
            {(isBehind || form.failedWith === 412) && (
              <Conflict
                onTheirs={() => adopt(template, version)}
                onMine={() => setBase((before) => ({ ...before, template, version }))}
                canChoose={isBehind}
                reload={reload}
              />
            )}
          </>
        }
        side={(isDirty) => (
          <>
            {template.channel === 'whatsapp' && <ApprovalPanel template={template} isDirty={isDirty} />}
            <Can do="POST /templates/:id/test">
              <TestPanel template={template} isDirty={isDirty} />
            </Can>
          </>
        )}
      />
    </Page>
  )
}

const Lead = ({ template }: { template: TemplateRecord }) => (
  <Group gap="sm" component="span">
    <ChannelLabel channel={template.channel} />
    <Tag>{words.kinds[template.kind]}</Tag>
    {!template.isEnabled && <Tag tone="warn">{words.off}</Tag>}
  </Group>
)

type ConflictProps = { canChoose: boolean; onTheirs(): void; onMine(): void; reload(): Promise<void> }

function Conflict({ canChoose, onTheirs, onMine, reload }: ConflictProps) {
  useEffect(() => {
    if (!canChoose) void reload()
    // Once: the choice appears when their version is here.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [canChoose])
  if (!canChoose) return null
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle aria-hidden />}
      title={words.conflictTitle}
      role="alert"
      c="inherit"
    >
      <Stack gap="xs">
        <Text size="sm">{words.conflictHint}</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onTheirs}>
            {words.takeTheirs}
          </Button>
          <Button size="xs" variant="default" onClick={onMine}>
            {words.keepMine}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function Actions({ template, onRemoved }: { template: TemplateRecord; onRemoved(): void }) {
  const { id, name, isEnabled } = template
  const navigate = useNavigate()
  const change = useApiMutation('PATCH /templates/:id', {
    success: (changed) => (changed.isEnabled ? words.switchedOn : words.switchedOff),
  })
  const remove = useApiMutation('DELETE /templates/:id', {
    success: words.removed,
    onSuccess: () => {
      onRemoved()
      void navigate({ to: '/templates' })
    },
  })
  return (
    <Group gap="xs">
      <Can do="PATCH /templates/:id">
        <Button
          variant="default"
          leftSection={<IconPower size={16} aria-hidden />}
          loading={change.isPending}
          onClick={() => change.mutate({ path: { id }, body: { isEnabled: !isEnabled } })}
        >
          {isEnabled ? words.switchOff : words.switchOn}
        </Button>
      </Can>
      <Can do="POST /templates">
        <LinkButton
          to="/templates/$id"
          params={{ id: 'new' }}
          search={{ from: id } as never}
          variant="default"
          leftSection={<IconCopy size={16} aria-hidden />}
        >
          {words.duplicate}
        </LinkButton>
      </Can>
      <Can do="DELETE /templates/:id">
        <ConfirmButton
          label={words.remove}
          leftSection={<IconTrash size={16} aria-hidden />}
          title={words.removeTitle(name)}
          confirmLabel={text.common.yesRemove}
          isWorking={remove.isPending}
          onConfirm={() => remove.mutateAsync({ path: { id } })}
        >
          {words.removeHint}
        </ConfirmButton>
      </Can>
    </Group>
  )
}
