/** What must not happen on a page of the console: errors on the browser's console, exceptions, foreign requests. */
import type { Page } from 'playwright-core'

/** Violations of the policy are logged as errors by the browser, and so are exceptions of React. The list grows. */
export function watchForProblems(page: Page, url: string, expected?: RegExp): string[] {
  const problems: string[] = []
  const note = (problem: string) => {
    if (!expected?.test(problem)) problems.push(problem)
  }
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      note(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => note(`exception: ${error.message}`))
  page.on('request', (request) => {
    const isOurs = /^(data|blob|about):/.test(request.url()) || request.url().startsWith(`${url}/`)
    if (!isOurs) note(`foreign request: ${request.url()}`)
  })
  return problems
}
