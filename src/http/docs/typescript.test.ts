import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { createOpenApi } from './openapi.ts'
import { typesOf } from './typescript.ts'

test('a document becomes one type, by route', () => {
  const document = createOpenApi({ title: '', version: '', description: '' }, [
    {
      method: 'patch',
      path: '/x/things/{id}',
      summary: 'Change a thing',
      parameters: [
        { name: 'id', in: 'path', required: true, description: '', schema: { type: 'string' } },
        { name: 'limit', in: 'query', description: '', schema: { type: 'integer' } },
      ],
      body: Type.Object({
        name: Type.String({ description: 'Its name.' }),
        kinds: Type.Optional(Type.Array(Type.String({ enum: ['a', "b's"] }))),
      }),
      answers: {
        200: {
          description: 'Done.',
          body: Type.Object({
            owner: Type.Union([Type.String(), Type.Null()]),
            tags: Type.Record(Type.String(), Type.Number()),
            'odd name': Type.Boolean(),
          }),
        },
      },
    },
    { method: 'delete', path: '/x/things', summary: 'Remove all', answers: { 204: { description: '' } } },
  ])
  expect(typesOf(document, '/x').split('\n').slice(4).join('\n')).toBe(`export type Api = {
  /** Change a thing. */
  'PATCH /things/:id': {
    path: {
      id: string
    }
    query: {
      limit?: number
    }
    body: {
      /** Its name. */
      name: string
      kinds?: ('a' | 'b\\'s')[] | null
    }
    answer: {
      owner: string | null
      tags: Record<string, number>
      'odd name': boolean
    }
  }
  /** Remove all. */
  'DELETE /things': {
    path: undefined
    query: undefined
    body: undefined
    answer: undefined
  }
}
`)
})
