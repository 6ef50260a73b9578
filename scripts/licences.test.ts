import { expect, test } from 'vitest'
// @ts-expect-error -- plain JavaScript, because it runs without dependencies
import { examine, examineCheckout, isAllowed, licenceOf } from './licences.mjs'

type Report = { faults: string[]; rows: { name: string; licence: string; use: string; script: string }[] }

const examined = (entry: object, own?: object, manifest: object = {}): string[] =>
  (
    examine({
      lock: { packages: { '': {}, 'node_modules/thing': { version: '1.0.0', integrity: 'x', ...entry } } },
      manifest,
      installed: () => own,
    }) as Report
  ).faults

test('this checkout depends on nothing that it may not use', () => {
  const { faults, rows } = examineCheckout() as Report
  expect(faults).toEqual([])
  expect(rows.length).toBeGreaterThan(100)
  expect(rows.find(({ name }) => name === 'fastify')).toMatchObject({
    licence: 'MIT',
    use: 'runtime',
    script: '',
  })
  expect(rows.filter(({ script }) => script === 'runs')).toEqual([])
})

test('licences that are not on the list are named, wherever they are said', () => {
  for (const licence of [
    'GPL-3.0',
    'AGPL-3.0-only',
    'LGPL-2.1',
    'BUSL-1.1',
    'SSPL-1.0',
    'UNLICENSED',
    'SEE LICENSE IN x',
    '',
  ])
    expect(examined({ license: licence }), licence).toHaveLength(1)
  expect(examined({})).toHaveLength(1)
  expect(examined({ license: 'MIT' }, { license: 'GPL-3.0' }), 'the package itself counts').toHaveLength(1)
  expect(examined({ license: 'MIT' }, { license: 'MIT' })).toEqual([])
  expect(examined({ license: 'MIT' })).toEqual([])
})

test('several licences: one of an OR, all of an AND', () => {
  expect(isAllowed('(MIT OR GPL-2.0)')).toBe(true)
  expect(isAllowed('MIT AND GPL-2.0')).toBe(false)
  expect(isAllowed('MIT AND ISC')).toBe(true)
  expect(licenceOf({ licenses: [{ type: 'GPL-2.0' }, { type: 'MIT' }] })).toBe('GPL-2.0 OR MIT')
  expect(licenceOf({ license: { type: 'ISC' } })).toBe('ISC')
})

test('an exception is for one licence and for development alone', () => {
  const of = (entry: object) =>
    (
      examine({
        lock: { packages: { 'node_modules/axe-core': { version: '1', integrity: 'x', ...entry } } },
        manifest: {},
        installed: () => undefined,
      }) as Report
    ).faults
  expect(of({ license: 'MPL-2.0', dev: true })).toEqual([])
  expect(of({ license: 'MPL-2.0' })).toHaveLength(1)
  expect(of({ license: 'GPL-3.0', dev: true })).toHaveLength(1)
})

test('scripts that run at the installation are named one by one', () => {
  const mit = { license: 'MIT' }
  expect(examined({ ...mit, hasInstallScript: true })).toHaveLength(1)
  expect(examined(mit, { ...mit, scripts: { postinstall: 'node x.js' } })).toHaveLength(1)
  expect(examined({ ...mit, hasInstallScript: true }, undefined, { allowScripts: { thing: false } })).toEqual(
    [],
  )
  expect(examined(mit, undefined, { allowScripts: { gone: true } })).toHaveLength(1)
})

test('what is not from the registry, or not pinned by its hash, is named', () => {
  expect(examined({ license: 'MIT', resolved: 'git+ssh://git@example.com/x.git' })).toHaveLength(1)
  expect(examined({ license: 'MIT', integrity: undefined })).toHaveLength(1)
})
