/** A serving process: the APIs over HTTP, on the accept path. */
import { fileURLToPath } from 'node:url'
import { Gauge } from 'prom-client'
import { findDriver } from '../drivers/registry.ts'
import { createAcceptor, type Acceptor } from '../flows/accept-message.ts'
import { addressesOf } from '../flows/addresses.ts'
import { createDatabaseCheck } from '../flows/check-database.ts'
import { diskOf, unlessDiskIsLow } from '../flows/guard-disk.ts'
import { createTokenChecker } from '../flows/check-tokens.ts'
import { withDemoCatcher } from '../flows/demo/catcher.ts'
import { createSandboxFinder } from '../flows/demo/find-sandbox.ts'
import { createRateLimits } from '../flows/limit-rates.ts'
import { createLogIn } from '../flows/log-in.ts'
import { queueCallbacks, queueReceived } from '../flows/queue-callbacks.ts'
import { createReadMedia } from '../flows/read-media.ts'
import { createReceiveHook } from '../flows/receive-hook.ts'
import { createReportRecorder } from '../flows/record-reports.ts'
import { createStoreAttachments } from '../flows/store-attachments.ts'
import { createProviderTemplates } from '../flows/submit-template.ts'
import { createUnsubscribe } from '../flows/unsubscribe.ts'
import { createImportRunner } from '../flows/run-imports.ts'
import { createSignIn } from '../flows/sign-in.ts'
import { createAdminSurface } from '../http/admin/index.ts'
import { createLiveFeed } from '../http/admin/live.ts'
import { adminDocument } from '../http/admin/openapi.ts'
import { createAddressReader } from '../http/client-address.ts'
import { createConsoleSurface } from '../http/console/index.ts'
import { createLargeBodyReader } from '../http/large-bodies.ts'
import { createLifecycle } from '../http/lifecycle.ts'
import { listen } from '../http/listen.ts'
import { createDirectSurface } from '../http/direct/index.ts'
import { directDocument } from '../http/direct/openapi.ts'
import { createDocsSurface } from '../http/docs/index.ts'
import { createHooksSurface } from '../http/hooks/index.ts'
import { createMediaSurface } from '../http/media.ts'
import { createHttpMetrics } from '../http/metrics.ts'
import { createOpsSurface } from '../http/ops/index.ts'
import { createBodyBudget } from '../http/tracking.ts'
import { createUnsubscribeSurface } from '../http/unsubscribe.ts'
import { createUnifiedSurface } from '../http/unified/index.ts'
import { unifiedDocument } from '../http/unified/openapi.ts'
import { createNotifier } from '../lanes/wake.ts'
import { createDiskGuard } from '../lib/disk-space.ts'
import { createOutbound } from '../lib/outbound/index.ts'
import { createDb } from '../store/db.ts'
import { askForMetrics, stateOfTree } from '../supervisor/child.ts'
import { outboundExceptions, type Part, type RoleContext } from './context.ts'

/** Two batches in flight, each with a look at the restriction lists beside it, and token look-ups between them. */
const acceptConnections = 6

/** Where scripts/setup.mjs builds the console. */
const consoleFolder = fileURLToPath(new URL('../../console/dist', import.meta.url))

export async function startServing({ config, db, sealer, clock, log, registry }: RoleContext): Promise<Part> {
  const lifecycle = createLifecycle()
  const budget = createBodyBudget(config.maxBodiesInFlightBytes)
  const metrics = createHttpMetrics(registry, budget)
  const addressOf = createAddressReader(config.trustedProxies)
  const limits = createRateLimits({ db, clock, log }, config.rateLimits)
  // Its own connections: neither the console nor a provider's reports may keep a sender waiting.
  const accepting = createDb({
    url: db.url,
    connections: acceptConnections,
    log,
    applicationName: 'pombo accept',
    // A caller hears 503 while there still is one: a database that stands still says nothing by itself.
    statementTimeoutMs: 8_000,
    answerTimeoutMs: 10_000,
    isForLookups: true,
  })
  const tokens = createTokenChecker({ db: accepting, clock })
  const lanes = createNotifier(db, log)
  const acceptor = createAcceptor({
    db: accepting,
    clock,
    log,
    queueDepth: config.acceptQueueDepth,
    onQueued: (lineIds) => lanes.wake(lineIds),
  })
  const told = { onChanged: queueCallbacks, onReceived: queueReceived }
  const recorder = createReportRecorder({ db, clock, log, ...told })
  const allowed = outboundExceptions(config)
  const catcher = config.isDemo ? await withDemoCatcher(allowed, { db, log }) : undefined
  const largeBodies = createLargeBodyReader()
  measureAccepting(registry, acceptor)
  const disk =
    config.minFreeDiskBytes > 0
      ? await createDiskGuard({ measure: diskOf(db), minFreeBytes: config.minFreeDiskBytes, log })
      : undefined
  const accept = unlessDiskIsLow(disk, acceptor.accept)

  const ops = createOpsSurface({
    lifecycle,
    checks: [createDatabaseCheck(db), async () => stateOfTree().reasons[0]],
    metrics: async () => ({ contentType: registry.contentType, text: await askForMetrics() }),
  })
  const unified = createUnifiedSurface({
    accept,
    storeAttachments: unlessDiskIsLow(disk, createStoreAttachments({ db })),
    readBody: largeBodies.read,
    logIn: createLogIn({ db, clock }),
    tokens,
    limits,
    addressOf,
    budget,
    clock,
    log,
    config,
  })
  const direct = createDirectSurface({
    accept,
    exceptions: catcher?.exceptions ?? allowed,
    tokens,
    limits,
    addressOf,
    budget,
    log,
    config,
  })
  const media = createMediaSurface({ readMedia: createReadMedia({ db }) })
  const hooks = createHooksSurface({
    budget,
    receive: createReceiveHook({
      db,
      sealer,
      log,
      recorder,
      findDriver,
      publicUrl: addressesOf(config).unified,
    }),
  })
  const unsubscribe = createUnsubscribeSurface({ budget, ...createUnsubscribe({ db, sealer, clock, log }) })
  const live = createLiveFeed({ db, clock, log })
  const outbound = createOutbound({ exceptions: catcher?.exceptions ?? allowed })
  const imports = createImportRunner({ db, log })
  const admin = createAdminSurface({
    db,
    sealer,
    clock,
    log,
    signIn: createSignIn({ db, sealer, clock }),
    accept,
    providerTemplates: createProviderTemplates({
      db,
      sealer,
      clock,
      log,
      outbound,
      findDriver,
      publicUrl: addressesOf(config).unified,
    }),
    imports,
    live,
    exceptions: catcher?.exceptions ?? allowed,
    addressOf,
    budget,
    publicUrl: addressesOf(config).unified,
    consoleUrl: addressesOf(config).console,
    apis: {
      unified: {
        url: addressesOf(config).unified,
        isHere: config.roles.includes('unified') && config.consolePort === undefined,
      },
      direct: {
        url: addressesOf(config).direct,
        isHere: config.roles.includes('direct') && config.consolePort === config.directPort,
      },
    },
    findSandbox: createSandboxFinder({ db, config }),
    config,
  })
  const docs = createDocsSurface([
    { name: 'unified', document: unifiedDocument },
    { name: 'direct', document: directDocument },
    { name: 'admin', document: adminDocument },
  ])
  const listening = await listen(
    config,
    { config, log, lifecycle, budget, metrics, addressOf, limits },
    {
      main: [
        ops,
        docs,
        media,
        ...(config.roles.includes('unified') ? [unified] : []),
        ...(config.roles.includes('hooks') ? [hooks, unsubscribe] : []),
      ],
      direct: config.roles.includes('direct') ? [direct] : [],
      // The console's reference reads the documents from its own address.
      console: config.roles.includes('admin')
        ? [
            admin,
            ...(config.consolePort === undefined ? [] : [docs]),
            createConsoleSurface({ folder: consoleFolder }),
          ]
        : [],
    },
  )
  lifecycle.phase = 'serving'
  return {
    async stop() {
      live.close()
      await listening.close()
      await imports.close()
      disk?.close()
      await acceptor.drain()
      await accepting.close()
      await recorder.drain()
      catcher?.close()
      await outbound.close()
      lanes.close()
      await limits.close()
      await largeBodies.close()
    },
  }
}

function measureAccepting(registry: RoleContext['registry'], acceptor: Acceptor): void {
  const registers = [registry]
  new Gauge({
    name: 'pombo_accept_waiting',
    help: 'Requests that wait for a batch.',
    registers,
    collect() {
      this.set(acceptor.stats().waiting)
    },
  })
  new Gauge({
    name: 'pombo_accepted_messages',
    help: 'Messages accepted since the processes started.',
    registers,
    collect() {
      this.set(acceptor.stats().accepted)
    },
  })
}
