/** One operation: what it does, its fields and answers, and beside them the place to try it. */
import { Table, Text, Title } from '@mantine/core'
import { CodeBlock } from '../../components/json-view.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import { fieldRows, typeOf, type ApiName, type FieldRow, type ShownOperation } from './openapi.ts'
import classes from './reference.module.css'
import type { Facts } from './samples.ts'
import { TryIt } from './try-it.tsx'

const words = text.reference

export type OperationProps = {
  api: ApiName
  shown: ShownOperation
  url: string
  isHere: boolean
  facts: Facts
  token: string
  onToken(token: string): void
}

export function OperationPanel(props: OperationProps) {
  const { method, path, operation } = props.shown
  const body = operation.requestBody?.content['application/json']
  const headers = operation.parameters ?? []
  return (
    <Panel>
      <section className={classes['operation']} aria-label={`${method} ${path}`}>
        <div className={classes['docs']}>
          <Title order={2} className={classes['route']}>
            <Tag tone="info">{method}</Tag> <code>{path}</code>
          </Title>
          <Text size="sm" mt={4}>
            <b>{operation.summary}.</b> <Prose value={operation.description ?? ''} />{' '}
            {operation.security.length === 0 && words.openRoute}
          </Text>
          {body && (
            <details className={classes['fold']} open>
              <summary>{words.fields}</summary>
              <Fields rows={fieldRows(body.schema)} label={`${words.fields}: ${path}`} />
            </details>
          )}
          {headers.length > 0 && (
            <details className={classes['fold']}>
              <summary>{words.headers}</summary>
              <Fields
                label={`${words.headers}: ${path}`}
                rows={headers.map(({ name, schema, description, required }) => ({
                  path: name,
                  type: typeOf(schema),
                  isRequired: required === true,
                  description,
                  limits: '',
                }))}
              />
            </details>
          )}
          {body?.example !== undefined && (
            <details className={classes['fold']}>
              <summary>{words.example}</summary>
              <CodeBlock
                value={JSON.stringify(body.example, undefined, 2)}
                label={`${words.example}: ${path}`}
              />
            </details>
          )}
          <details className={classes['fold']}>
            <summary>{words.answers}</summary>
            {Object.entries(operation.responses).map(([status, answer]) => {
              const schema = answer.content?.['application/json'].schema
              const rows = schema ? fieldRows(schema) : []
              return (
                <div key={status} className={classes['answer']}>
                  <Text size="sm">
                    <Tag tone={status.startsWith('2') ? 'good' : 'neutral'}>{status}</Tag>{' '}
                    <Prose value={answer.description} /> {rows.length === 0 && words.noBody}
                  </Text>
                  {rows.length > 0 && <Fields rows={rows} label={`${status}: ${path}`} />}
                </div>
              )
            })}
          </details>
        </div>
        <TryIt {...props} />
      </section>
    </Panel>
  )
}

/** `code` between backticks. */
function Prose({ value }: { value: string }) {
  return value
    .split('`')
    .map((part, index) =>
      index % 2 === 1 ? <code key={index}>{part}</code> : <span key={index}>{part}</span>,
    )
}

const Fields = ({ rows, label }: { rows: readonly FieldRow[]; label: string }) => (
  <div className={classes['table']} tabIndex={0} role="region" aria-label={label}>
    <Table fz="xs" verticalSpacing={3} horizontalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.name}</Table.Th>
          <Table.Th>{words.type}</Table.Th>
          <Table.Th>{words.meaning}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ path, type, isRequired, description, limits }) => (
          <Table.Tr key={path}>
            <Table.Td>
              <code>{path}</code> {isRequired && <Tag tone="warn">{words.required}</Tag>}
            </Table.Td>
            <Table.Td>{type}</Table.Td>
            <Table.Td>
              <Prose value={description} />
              {limits && <span className={classes['limits']}> {limits}</span>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </div>
)
