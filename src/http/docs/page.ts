/** The reference page: plain HTML from OpenAPI documents, readable without any script. */
import type { ApiDocument, JsonSchema, OpenApiOperation } from './openapi.ts'

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => escapes[character]!)

/** Escaped, with `code` between backticks. */
const prose = (text: unknown): string =>
  typeof text === 'string' ? escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>') : ''

export function renderPage(documents: ApiDocument[]): string {
  const links = documents.flatMap((document) => [
    `<li><a href="#${document.name}">${prose(document.document.info.title)}</a><ul>`,
    ...operationsOf(document).map(
      ({ id, method, path }) => `<li><a href="#${id}"><b>${method}</b> ${escapeHtml(path)}</a></li>`,
    ),
    '</ul></li>',
  ])
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pombo API reference</title>
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<nav aria-label="Contents"><h1>Pombo API reference</h1><ul>${links.join('')}</ul></nav>
<main>${documents.map(renderDocument).join('')}</main>
</body>
</html>
`
}

type ShownOperation = { id: string; method: string; path: string; operation: OpenApiOperation }

const operationsOf = ({ name, document }: ApiDocument): ShownOperation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: escapeHtml(`${name}-${method}-${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`),
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

function renderDocument(document: ApiDocument): string {
  const { info } = document.document
  return `<section id="${escapeHtml(document.name)}"><h2>${prose(info.title)}</h2><p>${prose(info.description)}</p>
<p><a href="/docs/${encodeURIComponent(document.name)}.json">OpenAPI document</a></p>
${operationsOf(document).map(renderOperation).join('')}</section>`
}

function renderOperation({ id, method, path, operation }: ShownOperation): string {
  const body = operation.requestBody?.content['application/json']
  const parts = [
    `<article id="${id}"><h3><b>${method}</b> <code>${escapeHtml(path)}</code></h3>`,
    `<p><strong>${prose(operation.summary)}.</strong> ${prose(operation.description)}</p>`,
    operation.security.length > 0
      ? '<p>Needs <code>Authorization: Bearer …</code>.</p>'
      : '<p>Needs no token.</p>',
  ]
  if (operation.parameters)
    parts.push(
      '<h4>Headers and parameters</h4>',
      table(
        operation.parameters.map(({ name, schema, description, required }) => [
          name,
          typeOf(schema),
          required ? 'yes' : '',
          prose(description),
        ]),
      ),
    )
  if (body) {
    parts.push('<h4>Body</h4>', table(fieldRows(body.schema)))
    if (body.example !== undefined)
      parts.push(`<pre>${escapeHtml(JSON.stringify(body.example, null, 2))}</pre>`)
  }
  parts.push('<h4>Answers</h4>')
  for (const [status, answer] of Object.entries(operation.responses)) {
    const schema = answer.content?.['application/json'].schema
    const fields = schema ? fieldRows(schema) : []
    parts.push(
      `<details><summary><b>${status}</b> ${prose(answer.description)}</summary>${fields.length > 0 ? table(fields) : '<p>No body.</p>'}</details>`,
    )
  }
  return `${parts.join('\n')}</article>`
}

type Row = [name: string, type: string, required: string, description: string]

/** Nested fields one after another, named by their path. */
function fieldRows(schema: JsonSchema, prefix = ''): Row[] {
  const required = (schema['required'] ?? []) as string[]
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  return properties.flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const row: Row = [path, typeOf(field), required.includes(name) ? 'yes' : '', description(field)]
    const items = field['items'] as JsonSchema | undefined
    return [row, ...fieldRows(field, `${path}.`), ...(items ? fieldRows(items, `${path}[].`) : [])]
  })
}

function typeOf(schema: JsonSchema): string {
  const type = schema['type']
  if (typeof schema['const'] === 'string') return `"${schema['const']}"`
  if (Array.isArray(schema['anyOf']))
    return schema['anyOf'].map((part) => typeOf(part as JsonSchema)).join(' or ')
  const name: unknown = Array.isArray(type) ? type.find((item) => item !== 'null') : type
  return typeof name === 'string' ? name : 'any'
}

function description(schema: JsonSchema): string {
  const limits = [
    schema['maxLength'] && `at most ${Number(schema['maxLength'])} characters`,
    schema['maxItems'] && `at most ${Number(schema['maxItems'])} items`,
    schema['default'] !== undefined && `default ${JSON.stringify(schema['default'])}`,
  ].filter(Boolean)
  return `${prose(schema['description'])}${limits.length > 0 ? ` <small>${escapeHtml(limits.join(', '))}</small>` : ''}`
}

const table = (rows: Row[]): string =>
  `<table><thead><tr><th>Name</th><th>Type</th><th>Required</th><th>Meaning</th></tr></thead><tbody>${rows
    .map(
      ([name, type, required, meaning]) =>
        `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(type)}</td><td>${required}</td><td>${meaning}</td></tr>`,
    )
    .join('')}</tbody></table>`
