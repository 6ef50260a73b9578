/** Take, hand over, close: what may be done with somebody's attendance, by those who may. */
import { Button, Group, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import type { ItemOf } from '../api.ts'
import { useApiForm } from '../hooks/use-api-form.ts'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { useCan, useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { FormFrame } from './form-frame.tsx'
import { FormModal } from './form-modal.tsx'

const words = text.attendance
type Attendance = ItemOf<'GET /attendances'>

type ActionsProps = { contactId: string; attendance: Attendance | undefined; size?: 'xs' | 'sm' }

export function AttendanceActions({ contactId, attendance, size = 'sm' }: ActionsProps) {
  const can = useCan()
  const { userId, role } = useSession()
  const [isHandingOver, setIsHandingOver] = useState(false)
  const take = useApiMutation('POST /attendances', { success: words.taken, alsoStale: ['contacts'] })
  const close = useApiMutation('POST /attendances/:id/close', {
    success: words.closed,
    alsoStale: ['contacts'],
  })
  if (!can('POST /attendances')) return null
  const isMine = attendance !== undefined && attendance.user.id === userId
  // As the server says: attendants give away and close what is theirs.
  const mayMove = attendance !== undefined && (isMine || role !== 'attendant')
  return (
    <Group gap="xs">
      {!isMine && (
        <Button
          size={size}
          variant={attendance ? 'default' : 'filled'}
          loading={take.isPending}
          onClick={() => take.mutate({ body: { contactId } })}
        >
          {attendance ? words.takeOver : words.take}
        </Button>
      )}
      {mayMove && (
        <>
          <Button size={size} variant="default" onClick={() => setIsHandingOver(true)}>
            {words.handOver}
          </Button>
          <ConfirmButton
            size={size}
            label={words.close}
            title={words.closeTitle}
            isDangerous={false}
            confirmLabel={words.closeYes}
            isWorking={close.isPending}
            onConfirm={() => close.mutateAsync({ path: { id: attendance.id } })}
          >
            {words.closeHint}
          </ConfirmButton>
          <FormModal
            title={words.handOverTitle}
            isOpen={isHandingOver}
            onClose={() => setIsHandingOver(false)}
          >
            <HandOverForm attendance={attendance} onDone={() => setIsHandingOver(false)} />
          </FormModal>
        </>
      )}
    </Group>
  )
}

function HandOverForm({ attendance, onDone }: { attendance: Attendance; onDone(): void }) {
  const { data } = useApiQuery('/users', { query: { limit: 200, sort: 'name' } })
  const form = useApiForm('POST /attendances/:id/hand-over', {
    initial: { userId: '' },
    call: (body) => ({ path: { id: attendance.id }, body }),
    success: ({ user }) => words.handedOver(user.name),
    alsoStale: ['contacts'],
    onSuccess: onDone,
  })
  const people = (data?.items ?? [])
    .filter(
      ({ id, role, disabledAt }) =>
        !disabledAt && id !== attendance.user.id && role !== 'viewer' && role !== 'api',
    )
    .map(({ id, name, role }) => ({ value: id, label: words.person(name, text.common.roles[role]) }))
  return (
    <FormFrame
      form={form}
      submitLabel={words.handOver}
      onCancel={onDone}
      canSubmit={form.values.userId !== ''}
    >
      <Stack gap="sm">
        <Select
          label={words.to}
          placeholder={words.choosePerson}
          description={data && people.length === 0 ? words.nobodyElse : undefined}
          searchable
          data-autofocus
          data={people}
          {...form.field('userId')}
          value={form.values.userId || null}
        />
      </Stack>
    </FormFrame>
  )
}
