import { expect, test } from 'vitest'
import { readStatusEndpoint } from '#api/routes/service/status.ts'
import { registry, silentLogger } from '#telemetry.ts'
import { alarmCodes } from '../openParts.ts'
import type { Alarm, AlarmCode } from '../part.ts'
import { AlarmWatch } from './AlarmWatch.ts'
import { alarmsOf } from './alarms.ts'
import { conditions } from './conditions.ts'
import { startAlarmSeries } from './openAlarms.ts'
import type { Watched } from './watched.ts'

const running = { state: 'running', problem: null }
const idle = { state: 'idle', problem: null }
const follower = { name: 'balances', state: 'following', problem: null, found: null }
const well: Watched = {
  state: { chainId: 4217, tip: 7 },
  profile: { headerRule: 'tempo', checks: 'roots' },
  audit: { state: 'agrees', problem: null },
  headStatus: running,
  historyStatus: idle,
  clickhouseStatus: running,
  storeProblem: null,
  followers: [follower],
  stall: null,
  unproved: null,
  forks: { problem: null },
  certificates: { problems: [] },
  nodes: { finalityHeld: null },
  relay: { problem: null },
}

test('a chain that is well raises nothing', () => {
  expect(alarmsOf(well)).toEqual([])
  expect(alarmsOf({ ...well, audit: null })).toEqual([])
  expect(alarmsOf({ ...well, followers: [{ ...follower, state: 'waiting' }] })).toEqual([])
  const links = { headerRule: 'unknown', checks: 'links' }
  expect(alarmsOf({ ...well, profile: links })).toEqual([])
})

test.each<[AlarmCode, Partial<Watched>]>([
  ['audit_differs', { audit: { state: 'differs', problem: 'why' } }],
  ['finality_violated', { headStatus: { state: 'finality_violated', problem: 'why' } }],
  ['lane_stopped', { headStatus: { state: 'stopped', problem: 'why' } }],
  ['lane_stopped', { historyStatus: { state: 'stopped', problem: 'why' } }],
  ['lane_waiting', { headStatus: { state: 'waiting', problem: 'why' } }],
  ['lane_waiting', { historyStatus: { state: 'filling', problem: 'why' } }],
  ['head_stalled', { stall: 'why' }],
  ['finality_held', { nodes: { finalityHeld: 'why' } }],
  ['relay_degraded', { relay: { problem: 'why' } }],
  ['postgres_degraded', { storeProblem: 'why' }],
  ['unprovable', { unproved: 'why' }],
  ['fork_unknown', { forks: { problem: 'why' } }],
  ['clickhouse_degraded', { clickhouseStatus: { state: 'retrying', problem: 'why' } }],
  ['clickhouse_degraded', { clickhouseStatus: { state: 'stopped', problem: 'why' } }],
])('%s is raised by %j', (code, change) => {
  expect(alarmsOf({ ...well, ...change })).toEqual([{ chainId: 4217, code, problem: 'why' }])
})

test.each(['finality_equivocated', 'finality_key_unknown', 'finality_certificates_missing'] as const)(
  '%s is raised by certificates',
  (kind) => {
    const certificates = { problems: [{ kind, message: 'why' }] }
    expect(alarmsOf({ ...well, certificates })).toEqual([{ chainId: 4217, code: kind, problem: 'why' }])
  },
)

test.each(['stopped', 'waiting'])('projections that are %s raise one alarm that names them', (state) => {
  const followers = ['tokens', 'balances'].map((name) => ({ name, state, problem: 'why', found: null }))
  const alarm = { chainId: 4217, code: `projection_${state}`, problem: 'tokens: why; balances: why' }
  expect(alarmsOf({ ...well, followers: [follower, ...followers] })).toEqual([alarm])
})

test('a projection that differs from the node raises an alarm until it agrees again', () => {
  const found = { strays: 0, differs: 'why' }
  const alarm = { chainId: 4217, code: 'projection_differs', problem: 'fee_pools: why' }
  expect(alarmsOf({ ...well, followers: [follower, { ...follower, name: 'fee_pools', found }] })).toEqual([
    alarm,
  ])
  const agrees = { ...follower, found: { ...found, differs: null } }
  expect(alarmsOf({ ...well, followers: [agrees] })).toEqual([])
})

test('headers that nothing proves raise header_rule_unknown', () => {
  const found = alarmsOf({ ...well, profile: { headerRule: 'unknown', checks: 'roots' } })
  expect(found.map(({ code }) => code)).toEqual(['header_rule_unknown'])
})

test('header_rule_unknown is not raised while nothing is stored', () => {
  const state = { chainId: 4217, tip: -1 }
  expect(alarmsOf({ ...well, state, profile: { headerRule: 'unknown', checks: 'roots' } })).toEqual([])
})

test('every code is in the schema of /status', () => {
  const { code } = Object(readStatusEndpoint.produces).schema.properties.alarms.items.properties
  expect([...code.enum].sort()).toEqual([...alarmCodes].sort())
})

function openWatch() {
  const told: string[] = []
  const errors: object[] = []
  const state = { nowMs: 0, alarms: [] as Alarm[] }
  const watch = new AlarmWatch({
    read: () => state.alarms,
    kinds: conditions,
    tell: ({ type, code, sinceMs }) => told.push(`${type} ${code} since ${sinceMs}`),
    clock: { now: () => 5_000_000 + state.nowMs, monotonic: () => state.nowMs, sleep: async () => {} },
    log: { debug() {}, info() {}, warn() {}, error: (fields) => errors.push(fields) },
  })
  const seconds = (count: number, ...codes: AlarmCode[]) => {
    state.alarms = codes.map((code) => ({ chainId: 1, code, problem: `after ${state.nowMs}` }))
    for (let second = 0; second < count; second++, state.nowMs += 1_000) watch.step()
  }
  return { watch, told, errors, seconds }
}

test('a difference is told at once, and once, until it has been over for a minute', () => {
  const { told, errors, seconds } = openWatch()
  seconds(1, 'parity_differs')
  expect(told).toEqual(['alarm.raised parity_differs since 5000000'])
  seconds(300, 'parity_differs')
  seconds(59)
  seconds(10, 'parity_differs')
  expect(told).toHaveLength(1)
  seconds(62)
  expect(told).toEqual([
    'alarm.raised parity_differs since 5000000',
    'alarm.cleared parity_differs since 5000000',
  ])
  expect(errors).toHaveLength(1)
})

test('a store that is back within seconds calls nobody, but is seen at once', () => {
  const { watch, told, seconds } = openWatch()
  seconds(9, 'clickhouse_degraded')
  expect(watch.active()).toMatchObject([{ code: 'clickhouse_degraded', sinceMs: 5_000_000 }])
  seconds(5)
  expect(watch.active()).toEqual([])
  seconds(10, 'clickhouse_degraded')
  expect(told).toEqual([])
  seconds(1, 'clickhouse_degraded')
  expect(told).toEqual(['alarm.raised clickhouse_degraded since 5014000'])
})

test('two conditions are two alarms', () => {
  const { told, seconds } = openWatch()
  seconds(11, 'postgres_degraded', 'audit_differs')
  expect(told.map((line) => line.split(' ')[1])).toEqual(['audit_differs', 'postgres_degraded'])
})

test('each alarm has its series before any is raised, and is 1 while it holds', async () => {
  startAlarmSeries([{ state: { chainId: 78 } }], conditions)
  const shownFor = async (code: AlarmCode) => {
    const [, value] =
      new RegExp(`^millrace_alarm\\{chain="78",code="${code}"\\} (.+)$`, 'm').exec(
        await registry.metrics(),
      ) ?? []
    return value
  }
  for (const { code } of conditions) expect(await shownFor(code), code).toBe('0')
  let holds = true
  let nowMs = 0
  const clock = { ...{ now: () => nowMs, monotonic: () => nowMs }, sleep: async () => {} }
  const alarm: Alarm = { chainId: 78, code: 'audit_differs', problem: 'why' }
  const watch = new AlarmWatch({
    read: () => (holds ? [alarm] : []),
    kinds: conditions,
    tell: () => {},
    clock,
    log: silentLogger,
  })
  watch.step()
  expect([await shownFor('audit_differs'), await shownFor('unprovable')]).toEqual(['1', '0'])
  holds = false
  nowMs += 100_000
  watch.step()
  expect(await shownFor('audit_differs')).toBe('0')
})
