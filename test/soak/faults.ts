/** What can happen to an installation. Each fault ends with everything put back, but not yet recovered. */
import { setTimeout as wait } from 'node:timers/promises'
import { moods } from './provider.ts'
import { receiverMoods } from './receiver.ts'
import { childrenOf, freeze, postmasterOf, signal, useUpConnections } from './postgres.ts'
import type { World } from './world.ts'

export type Fault = {
  name: string
  /** Told in the line of the round; a complaint is a failure of the whole run. */
  run(world: World): Promise<{ note?: string; complaint?: string } | void>
}

/** Returns early when the run is stopped; what follows puts things back. */
export const pause = (world: World, ms: number): Promise<void> =>
  wait(ms * world.pace, undefined, { signal: world.stopping }).catch(() => {})

const shortly = (world: World) => world.random.between(2_000, 5_000)
const longMs = 30_000

const kills: Fault[] = [
  {
    name: 'kill -9 a serving process',
    async run({ a, random }) {
      const { serving } = await a.pids()
      if (serving.length > 0) signal([random.pick(serving)], 'SIGKILL')
    },
  },
  { name: 'kill -9 all serving processes of a node', run: ({ a }) => a.kill('serving') },
  { name: 'kill -9 the worker', run: ({ a, b, random }) => random.pick([a, b]).kill('worker') },
  {
    name: 'kill -9 the supervisor of the node with the database',
    async run({ a }) {
      await a.kill('supervisor')
      await a.start()
    },
  },
  {
    name: 'kill -9 the other node as a whole',
    async run({ b }) {
      await b.kill('all')
      await b.start()
    },
  },
  { name: 'kill -9 PostgreSQL', run: ({ a }) => a.kill('postgres') },
  {
    name: 'kill -9 one process of PostgreSQL',
    async run({ a, random }) {
      const children = childrenOf(await postmasterOf(a.dataDir))
      if (children.length > 0) signal([random.pick(children)], 'SIGKILL')
    },
  },
  {
    name: 'kill -9 everything at once',
    async run({ a, b }) {
      await Promise.all([a.kill('all'), b.kill('all')])
      await a.start()
      await b.start()
    },
  },
]

async function freezeFor(world: World, ms: number): Promise<void> {
  const thaw = await freeze(world.a.dataDir)
  try {
    await pause(world, ms)
  } finally {
    thaw()
  }
}

async function cutFor(world: World, ms: number): Promise<void> {
  world.proxy.goAway()
  try {
    await pause(world, ms)
  } finally {
    world.proxy.comeBack()
  }
}

const cuts: Fault[] = [
  { name: 'PostgreSQL stands still for some seconds', run: (world) => freezeFor(world, shortly(world)) },
  { name: 'network cut between node and database', run: (world) => cutFor(world, shortly(world)) },
  {
    name: 'network that swallows what a node sends to the database',
    async run(world) {
      world.proxy.pause()
      try {
        await pause(world, shortly(world))
      } finally {
        world.proxy.resume()
      }
    },
  },
  {
    name: 'no database connections left',
    async run(world) {
      const { taken, release } = await useUpConnections(world.databaseUrl)
      try {
        await pause(world, 2_000)
      } finally {
        await release()
      }
      return { note: `${taken} taken` }
    },
  },
  {
    name: 'clock of a node jumps',
    async run(world) {
      const aheadMs = Math.round(world.random.between(5_000, 20_000)) * world.random.pick([-1, 1])
      await world.setClock(aheadMs)
      await pause(world, 3_000)
      await world.setClock(0)
      return { note: `${(aheadMs / 1000).toFixed(0)} s` }
    },
  },
]

const providers = moods
  .filter((mood) => mood !== 'well')
  .map((mood): Fault => ({
    name: `provider ${mood}`,
    async run(world) {
      world.provider.setMood(mood)
      await pause(world, world.random.between(1_500, 4_000))
      world.provider.setMood('well')
    },
  }))

const receivers = receiverMoods
  .filter((mood) => mood !== 'well')
  .map((mood): Fault => ({
    name: `callback receiver ${mood}`,
    async run(world) {
      world.receiver.setMood(mood)
      await pause(world, 2_000)
      world.receiver.setMood('well')
    },
  }))

const others: Fault[] = [
  {
    name: 'rolling restart: each node by SIGTERM, under load',
    async run(world) {
      const { a, b, load } = world
      let complaint: string | undefined
      load.isBalanced = true
      await pause(world, 500)
      for (const node of [b, a]) {
        const before = load.cutBy[node.name]!
        await node.stop()
        const cut = load.cutBy[node.name]! - before
        if (cut > 0) complaint = `${cut} requests of node ${node.name} were cut by its drain`
        await node.start()
        await pause(world, 500)
      }
      load.isBalanced = false
      return complaint === undefined ? undefined : { complaint }
    },
  },
  {
    name: 'overload',
    async run({ load }) {
      const { accepted = 0, refused = 0 } = await load.burst(2_000)
      return { note: `${accepted} taken, ${refused} turned away` }
    },
  },
]

/** Once in a long run each: what takes half a minute. */
export const longFaults: Fault[] = [
  { name: 'PostgreSQL stands still for 30 s', run: (world) => freezeFor(world, longMs) },
  { name: 'network cut between node and database for 30 s', run: (world) => cutFor(world, longMs) },
]

export const faults: Fault[] = [...kills, ...cuts, ...providers, ...receivers, ...others]

/** Kills twice as often as the rest: they find messages in the most places. */
export const deckOfFaults: Fault[] = [...kills, ...faults]
