// Goal: every activity of the published field tables exists with exactly their fields.
/**
 * Every activity of the published field tables exists and gives exactly the fields the tables
 * promise.
 */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, address } from '#primitives.ts'
import { readRecording } from '#test/chain/recordings.ts'
import { arbitraryLog } from '#test/support/arbitraryLog.ts'
import {
  account,
  logOf,
  numbered,
  recordedFacts,
  tip20,
  transactionFacts,
} from '#test/support/transactionFacts.ts'
import type { ActivityItem } from '#transform/activities/activity.ts'
import { activities } from '#transform/activities/index.ts'
import { listActivities } from '#transform/activities/listActivities.ts'
import * as addresses from '#transform/addresses.ts'
import type { ContractEvent } from '#transform/events/event.ts'
import { events } from '#transform/events/index.ts'
import { transfer } from '#transform/events/tokens/erc20.ts'
import type { LogFacts } from '#transform/projection.ts'
import { sharedFile } from './sharedFolder.ts'

interface Fields {
  readonly required: readonly string[]
  readonly allowed: readonly string[]
}

/** In the specification but not in the tables, or newer than both. */
const beyondTables = /^(assets|shares|private-(assets|shares))-/

describe('activities', () => {
  it('are those of the field tables', () => {
    const types = new Set(activities.map(({ type }) => type))
    const extra = [...types].filter((type) => !beyondTables.test(type))
    expect(extra.toSorted()).toEqual([...readTable().keys()].toSorted())
  })

  it('have the fields of the tables, whatever the events hold', () => {
    const table = readTable()
    const seen = new Set<string>()
    for (const item of [...itemsOfEveryEvent(), ...itemsOfRecording()]) {
      const fields = table.get(item.type)
      if (fields === undefined) continue
      const names = Object.keys(item.data)
      expect([item.type, names]).toEqual([item.type, expect.arrayContaining([...fields.required])])
      expect([item.type, names.filter((name) => !fields.allowed.includes(name))]).toEqual([item.type, []])
      seen.add(item.type)
    }
    expect([...table.keys()].filter((type) => !seen.has(type))).toEqual([])
  })
})

/** type -> fields of its data, from the table of the Activity shape. */
function readTable(): ReadonlyMap<string, Fields> {
  const text = readFileSync(sharedFile('spec', 'chain-data-contract.md'), 'utf8')
  const rows = text
    .split('### Activity\n')[1]
    ?.split('\n## ')[0]
    ?.matchAll(/^\| ([a-z-]+) \| string \| \{(.*)\} \|$/gm)
  return new Map([...(rows ?? [])].map(([, type = '', fields = '']) => [type, readFields(fields)]))
}

function readFields(text: string): Fields {
  const names = text.split(';').map((field) => field.split(':')[0]?.trim() ?? '')
  return {
    required: names.filter((name) => !name.endsWith('?')),
    allowed: names.map((name) => name.replace('?', '')),
  }
}

const sender = account('a')

/**
 * One transaction per event with that event alone, and one with tokens moved in and out of its
 * contract as well.
 */
function itemsOfEveryEvent(): readonly ActivityItem[] {
  return events.flatMap((event) =>
    fc.sample(arbitraryLog(event.abi), 5).flatMap((sample) => {
      const log: LogFacts = { ...sample, address: emitterOf(event), logIndex: 0, isVirtualForward: false }
      return [[log], [...transfersAround(log), log]].flatMap((logs) =>
        listActivities(transactionFacts({ logs: numbered(...logs) }), sender, {
          quoteTokenOf: () => tip20('9'),
        }),
      )
    }),
  )
}

/**
 * Transfers between the emitter and every account and amount the event names: what channels look
 * for.
 */
function transfersAround({ address: contract, topics, data }: LogFacts): readonly LogFacts[] {
  const accounts = topics.slice(1).filter((topic) => topic.startsWith(`0x${'0'.repeat(24)}`))
  const amounts = [...data.slice(2).matchAll(/.{64}/g)].map(([word]) => BigInt(`0x${word}`))
  return accounts.flatMap((topic) =>
    amounts.flatMap((amount) => {
      const named = address(`0x${topic.slice(26)}`)
      const out = logOf(transfer, tip20('1'), { from: contract, to: named, amount })
      return [out, logOf(transfer, tip20('1'), { from: named, to: contract, amount })]
    }),
  )
}

function itemsOfRecording(): readonly ActivityItem[] {
  return readRecording('tempo-dev-2k')
    .flatMap(recordedFacts)
    .flatMap((tx) => listActivities(tx, tx.from))
}

function emitterOf(event: ContractEvent): Address {
  const contracts = Object.values(addresses).filter((value) => typeof value === 'string')
  const emitter = [account('e'), tip20('e'), ...contracts].find(event.isEmittedBy)
  if (emitter === undefined) throw new Error(`nobody emits ${event.signature}`)
  return emitter
}
