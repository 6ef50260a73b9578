/** The export: what it will hold, how far it is, and a way to stop it. */
import { Alert, Button, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { urlOf } from '../../api.ts'
import { formatBytes, formatNumber } from '../../format.ts'
import { text } from '../../text/index.ts'
import { rangeOf, type MessageFilters } from './filters.ts'
import { downloadCsv, maxExportRows, type ExportProgress } from './download-csv.ts'

const words = text.messages

type ExportState = { kind: 'idle' } | ({ kind: 'working' | 'done' } & ExportProgress) | { kind: 'failed' }

const progressOf = ({ rows, bytes }: ExportProgress) => [formatNumber(rows), formatBytes(bytes)] as const

export function ExportModal({ filters, onClose }: { filters: MessageFilters; onClose(): void }) {
  const [state, setState] = useState<ExportState>({ kind: 'idle' })
  const stopper = useRef<AbortController>(undefined)
  useEffect(() => () => stopper.current?.abort(), [])
  const { id: _, ...query } = filters
  const start = async () => {
    const controller = new AbortController()
    stopper.current = controller
    setState({ kind: 'working', rows: 0, bytes: 0 })
    try {
      const done = await downloadCsv({
        url: urlOf('GET /messages/export', { query }),
        fileName: words.exportFile(new Date().toISOString().slice(0, 10)),
        signal: controller.signal,
        onProgress: (progress) => setState({ kind: 'working', ...progress }),
      })
      setState({ kind: 'done', ...done })
    } catch {
      setState(controller.signal.aborted ? { kind: 'idle' } : { kind: 'failed' })
    }
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.exportTitle}
      closeButtonProps={{ 'aria-label': text.common.close }}
    >
      <Stack gap="sm">
        <Text size="sm">{words.exportHint}</Text>
        <Text size="sm">{words.exportRange(rangeOf(filters))}</Text>
        <div role="status">
          {state.kind === 'working' && (
            <>
              <Text size="sm" mb={4}>
                {words.exportProgress(...progressOf(state))}
              </Text>
              <Progress value={100} animated aria-label={words.exportTitle} />
            </>
          )}
          {state.kind === 'done' && (
            <Alert color="green">
              {words.exportDone(...progressOf(state))}
              {state.rows >= maxExportRows && <div>{words.exportFull}</div>}
            </Alert>
          )}
          {state.kind === 'failed' && (
            <Alert color="red" icon={<IconAlertTriangle aria-hidden />}>
              {words.exportFailed}
            </Alert>
          )}
        </div>
        <Group justify="flex-end" gap="xs">
          {state.kind === 'working' ? (
            <Button variant="default" onClick={() => stopper.current?.abort()}>
              {words.exportStop}
            </Button>
          ) : (
            <>
              <Button variant="default" onClick={onClose}>
                {text.common.close}
              </Button>
              {state.kind !== 'done' && (
                <Button onClick={() => void start()}>
                  {state.kind === 'failed' ? text.common.retry : words.exportStart}
                </Button>
              )}
            </>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
