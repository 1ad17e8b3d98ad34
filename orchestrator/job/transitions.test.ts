import { expect, test } from 'vitest'
import { jobStates, nodeStates } from '#rows/jobs/states.ts'
import {
  isNodeOver,
  jobTransitions,
  nextJobState,
  nextNodeState,
  nodeTransitions,
  TransitionError,
} from './transitions.ts'

const cases = (table: Readonly<Record<string, Readonly<Record<string, string | null>>>>) =>
  Object.entries(table).flatMap(([state, row]) =>
    Object.entries(row).map(([happening, next]) => ({ state, happening, next })),
  )

test('both tables are total: each state has each happening', () => {
  expect(Object.keys(jobTransitions)).toEqual([...jobStates])
  expect(Object.keys(nodeTransitions)).toEqual([...nodeStates])
  expect(cases(jobTransitions)).toHaveLength(6 * 5)
  expect(cases(nodeTransitions)).toHaveLength(7 * 8)
})

test('what has ended stays as it is', () => {
  const ended = (table: Parameters<typeof cases>[0]) =>
    Object.keys(table).filter((state) => Object.values(table[state] ?? {}).every((next) => next === null))
  expect(ended(jobTransitions)).toEqual(['succeeded', 'partially_succeeded', 'failed', 'cancelled'])
  expect(ended(nodeTransitions)).toEqual(['succeeded', 'failed', 'skipped', 'cancelled'])
  expect(nodeStates.filter(isNodeOver)).toEqual(['succeeded', 'failed', 'skipped', 'cancelled'])
})

test('every state but the first is reached, and what is not reached throws', () => {
  const reached = (table: Parameters<typeof cases>[0]) =>
    new Set(cases(table).flatMap(({ next }) => next ?? []))
  expect([...reached(jobTransitions)].sort()).toEqual(
    jobStates.filter((state) => state !== 'queued').toSorted(),
  )
  expect([...reached(nodeTransitions)].sort()).toEqual([...nodeStates].sort())
  expect(nextJobState('queued', 'begin')).toBe('running')
  expect(nextNodeState('running', 'again')).toBe('pending')
  expect(() => nextNodeState('waiting', 'cancel')).toThrow(TransitionError)
  expect(() => nextJobState('queued', 'succeed')).toThrow(TransitionError)
})
