/** What the contract tests of the unified API share: one app per file, and the few things that answers are held to. */
import { afterAll, beforeAll, expect } from 'vitest'
import { startApp, type App, type AppOptions } from '../../harness/app.ts'
import type { Answer } from '../../harness/http.ts'
import { createCompany, type Company, type CompanyOptions } from './company.ts'

export * from './company.ts'

export const messages = {
  textAbsent: 'Object reference not set to an instance of an object.',
  inAttendance: 'message not sent: contact in attendance',
  recentlyContacted: 'message not sent: contact recently contacted',
  windowClosed: 'message not sent: 24-hour window closed',
} as const

export type Unified = {
  readonly app: App
  /** Shared by the tests of the file; every body goes to somebody new. */
  readonly company: Company
  newCompany(options?: CompanyOptions): Promise<Company>
}

/** One app for the file. */
export function useUnified(options: AppOptions = {}): Unified {
  let app: App | undefined
  let company: Company | undefined
  const newCompany = (companyOptions?: CompanyOptions) =>
    createCompany(app!.db, () => app!.url, companyOptions)
  beforeAll(async () => {
    app = await startApp(options)
    company = await newCompany()
  })
  afterAll(async () => {
    await app?.stop()
  })
  return {
    get app() {
      return app!
    },
    get company() {
      return company!
    },
    newCompany,
  }
}

export const hourMs = 3_600_000

/** 200 and the three fields of success, no others. */
export function expectAccepted(answer: Answer): void {
  expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } })
  expect(Object.keys(answer.body).toSorted()).toEqual(['messageId', 'requestId', 'status'])
  expect(answer.body['messageId']).toMatch(/^msg_[0-9a-f]{32}$/)
  expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
}

type Path = string | RegExp

/** 400 whose `errors` names exactly these fields, each with at least one sentence. */
export function expectInvalid(answer: Answer, ...paths: Path[]): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 400 })
  expectErrorBody(answer)
  const errors = (answer.body['errors'] ?? {}) as Record<string, string[]>
  const keys = Object.keys(errors).toSorted()
  for (const path of paths)
    expect(keys, answer.text).toContainEqual(typeof path === 'string' ? path : expect.stringMatching(path))
  for (const key of keys)
    expect(
      paths.some((path) => (typeof path === 'string' ? path === key : path.test(key))),
      `${key} is named`,
    ).toBe(true)
  for (const sentences of Object.values(errors)) {
    expect(Array.isArray(sentences) && sentences.length > 0, answer.text).toBe(true)
    for (const sentence of sentences) expect(sentence).toMatch(/\S/)
  }
}

/** 400 with exactly this message. */
export function expectRefused(answer: Answer, message: string): void {
  expect({ status: answer.status, message: answer.body['message'] }).toEqual({ status: 400, message })
  expectErrorBody(answer)
}

/** `message`, `requestId` and perhaps `errors` or, in a dry run, `verdict`. */
export function expectErrorBody(answer: Answer): void {
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.body['message'], answer.text).toMatch(/\S/)
  expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
  for (const key of Object.keys(answer.body))
    expect(['message', 'errors', 'requestId', 'verdict']).toContain(key)
}

export const errorsAt = (answer: Answer, path: string): string =>
  ((answer.body['errors'] as Record<string, string[]> | undefined)?.[path] ?? []).join(' ')

/** Everything that a refused message was recorded with, as one text to look into. */
export const reasonsText = (row: { reasons: unknown }): string =>
  (row.reasons as { reason?: string }[]).map((item) => item.reason).join('\n')

/** What the person will read, whoever fills in the template. */
export const shownText = (row: { content: { kind: string; text: string; preview: string } }): string =>
  row.content.kind === 'text' ? row.content.text : row.content.preview

export const count = (answers: Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length
