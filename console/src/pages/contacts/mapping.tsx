/** What each column of a file means, with its first values; to be corrected before the file is sent. */
import { Alert, Select, Table, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { contactColumns, type ContactColumn } from '../../../../src/domain/contact-columns.ts'
import { text } from '../../text/index.ts'
import { findProblem, type CsvLook } from './csv-file.ts'
import classes from './mapping.module.css'

const words = text.contacts

type MappingProps = {
  look: CsvLook & { ok: true }
  meanings: readonly (ContactColumn | '')[]
  onChange(meanings: (ContactColumn | '')[]): void
}

const options = [
  { value: '', label: words.ignored },
  ...contactColumns.map((column) => ({ value: column, label: words.columnNames[column] })),
]

export function Mapping({ look, meanings, onChange }: MappingProps) {
  const problem = findProblem(meanings)
  return (
    <div>
      <Text fw={600}>{words.mapping}</Text>
      <Text size="sm" c="dimmed" mb="xs">
        {words.mappingHint}
      </Text>
      {!look.isUtf8 && <Warning sentence={words.isNotUtf8} />}
      {problem && (
        <Warning
          sentence={
            problem.kind === 'twice'
              ? words.takenTwice(words.columnNames[problem.column])
              : words.noAddressColumn
          }
        />
      )}
      <div className={classes['frame']}>
        <Table verticalSpacing={4} fz="sm" aria-label={words.mapping} className={classes['table']}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.column}</Table.Th>
              <Table.Th>{words.samples}</Table.Th>
              <Table.Th w={240}>{words.meaning}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {look.columns.map(({ header, samples }, place) => {
              const name = header || words.unnamedColumn(place + 1)
              return (
                <Table.Tr key={place} data-ignored={meanings[place] === '' || undefined}>
                  <Table.Td className={classes['header']}>{name}</Table.Td>
                  <Table.Td className={classes['samples']}>
                    {samples.map(shorten).join(' · ') || text.common.none}
                  </Table.Td>
                  <Table.Td>
                    <Select
                      size="xs"
                      aria-label={`${words.meaning}: ${name}`}
                      value={meanings[place] ?? ''}
                      data={options}
                      onChange={(value) =>
                        onChange(meanings.with(place, (value ?? '') as ContactColumn | ''))
                      }
                    />
                  </Table.Td>
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      </div>
    </div>
  )
}

const shorten = (value: string): string => (value.length > 40 ? `${value.slice(0, 40)}…` : value)

const Warning = ({ sentence }: { sentence: string }) => (
  <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} role="alert" mb="xs">
    {sentence}
  </Alert>
)
