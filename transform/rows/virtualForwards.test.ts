import { describe, expect, test } from 'vitest'
import { type Address, address, type Hash, type Hex, hash } from '#primitives.ts'
import { type LogContent, transferTopic } from './transferLog.ts'
import { findVirtualForwards } from './virtualForwards.ts'

const token = address('0x20c0000000000000000000000000000000000001')
const alice = address(`0x${'a1'.repeat(20)}`)
const master = address(`0x${'b2'.repeat(20)}`)
const thief = address(`0x${'c3'.repeat(20)}`)
const virtual = address(`0x00000007${'fd'.repeat(10)}000000000009`)
const otherVirtual = address(`0x00000007${'fd'.repeat(10)}00000000000a`)

const topic = (who: Address): Hash => hash(`0x${'0'.repeat(24)}${who.slice(2)}`)

function transfer(from: Address, to: Address, amount = 5, emitter: Address = token): LogContent {
  const data: Hex = `0x${amount.toString(16).padStart(64, '0')}`
  return { address: emitter, topics: [hash(transferTopic), topic(from), topic(to)], data }
}

const forwards = (...logs: LogContent[]): number[] => [...findVirtualForwards(logs)]

describe('findVirtualForwards', () => {
  test('the hop out of a virtual address is the forward, adjacent or not', () => {
    expect(forwards(transfer(alice, virtual), transfer(virtual, master))).toEqual([1])
    expect(forwards(transfer(alice, virtual), transfer(alice, thief), transfer(virtual, master))).toEqual([2])
  })

  test('ordinary transfers, and one to a virtual address that goes nowhere, are none', () => {
    expect(forwards(transfer(alice, master), transfer(master, thief))).toEqual([])
    expect(forwards(transfer(alice, virtual))).toEqual([])
    expect(forwards(transfer(virtual, master))).toEqual([])
    expect(forwards()).toEqual([])
  })

  test('equal deposits to one address forward one by one', () => {
    const deposits = [transfer(alice, virtual), transfer(virtual, master)]
    expect(forwards(...deposits, ...deposits)).toEqual([1, 3])
  })

  test('several virtual addresses and amounts are matched apart', () => {
    const logs = [
      transfer(alice, virtual, 5),
      transfer(alice, otherVirtual, 6),
      transfer(virtual, master, 5),
      transfer(otherVirtual, thief, 6),
    ]
    expect(forwards(...logs)).toEqual([2, 3])
  })

  test.each([
    ['the amounts differ', [transfer(alice, virtual, 5), transfer(virtual, master, 4)]],
    [
      'the tokens differ',
      [transfer(alice, virtual), transfer(virtual, master, 5, address(`0x20c0${'0'.repeat(35)}9`))],
    ],
    ['the counts differ', [transfer(alice, virtual), transfer(virtual, master), transfer(virtual, master)]],
    ['the hop out comes first', [transfer(virtual, master), transfer(alice, virtual)]],
    [
      'destinations differ',
      [
        transfer(alice, virtual),
        transfer(virtual, master),
        transfer(alice, virtual),
        transfer(virtual, thief),
      ],
    ],
    ['it goes on to a virtual address', [transfer(alice, virtual), transfer(virtual, otherVirtual)]],
    ['the token is no TIP-20', [transfer(alice, virtual, 5, thief), transfer(virtual, master, 5, thief)]],
  ])('fails closed when %s', (_, logs) => {
    expect(forwards(...logs)).toEqual([])
  })
})
