/** `GET /apis`: where the two APIs answer, for the reference and its "try it". */
import { Type } from 'typebox'
import { done } from './replies.ts'
import { read, type Route } from './route.ts'

const ApiOut = Type.Object({
  url: Type.String({ description: 'Without a trailing slash.' }),
  isHere: Type.Boolean({ description: 'Whether the address of the console answers for it as well.' }),
})

export const apiRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/apis',
    summary: 'Where the two APIs answer',
    answer: Type.Object({ unified: ApiOut, direct: ApiOut }),
    handle: async ({ deps }) => done(deps.apis),
  }),
]
