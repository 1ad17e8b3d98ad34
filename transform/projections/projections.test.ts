import { describe, expect, it } from 'vitest'
import { account, logOf, numbered, project, tip20, transactionFacts } from '#test/support/transactionFacts.ts'
import { receivePolicyGuardAddress, zeroAddress } from '../addresses.ts'
import { approval, transfer } from '../events/tokens/erc20.ts'
import { projectionNames, tableNames } from '../tables.ts'
import { addressTxs } from './addressTxs.ts'
import { contractCreations } from './contractCreations.ts'
import { holderDeltas } from './holderDeltas.ts'
import { projections } from './index.ts'
import { tokenApprovals } from './tokenApprovals.ts'

const [alice, bob] = [account('a'), account('b')]
const token = tip20('1')

describe('the registry', () => {
  it('has one projection for every derived table', () => {
    expect(projections.map(({ name }) => name)).toEqual(projectionNames.filter((name) => name !== 'base'))
    const derived = projections.flatMap(({ tables }) => tables)
    expect(new Set(derived).size).toBe(derived.length)
    expect(tableNames).toEqual(expect.arrayContaining(derived))
  })
})

describe('holder deltas', () => {
  const legsOf = (from: typeof alice, to: typeof alice) => {
    const logs = numbered(logOf(transfer, token, { from, to, amount: 5n }))
    const rows = project(holderDeltas, [transactionFacts({ logs })]).holder_deltas ?? []
    return rows.map(({ leg, holder, counterparty, amount }) => [leg, holder, counterparty, amount])
  }

  it('are the giving side, then the taking side', () => {
    expect(legsOf(alice, bob)).toEqual([
      [-1, alice, bob, 5n],
      [1, bob, alice, 5n],
    ])
  })

  it('leave out the zero address of mints and burns', () => {
    expect(legsOf(zeroAddress, bob)).toEqual([[1, bob, zeroAddress, 5n]])
    expect(legsOf(alice, zeroAddress)).toEqual([[-1, alice, zeroAddress, 5n]])
    expect(legsOf(zeroAddress, zeroAddress)).toEqual([])
  })

  it('of a transfer to oneself are both', () => {
    expect(legsOf(alice, alice)).toEqual([
      [-1, alice, alice, 5n],
      [1, alice, alice, 5n],
    ])
  })

  it('count what the receive-policy guard holds as its own', () => {
    expect(legsOf(alice, receivePolicyGuardAddress)).toHaveLength(2)
  })
})

describe('token approvals', () => {
  it('are rows with owner, spender and amount, but not those of NFTs', () => {
    const log = logOf(approval, token, { owner: alice, spender: bob, amount: 5n })
    const nft = { ...log, topics: [...log.topics, log.topics[0] ?? approval.topic0], data: '0x' as const }
    const { token_approvals } = project(tokenApprovals, [transactionFacts({ logs: numbered(log, nft) })])
    expect(token_approvals).toMatchObject([{ log_idx: 10, token, owner: alice, spender: bob, amount: 5n }])
  })
})

describe('address transactions', () => {
  it('name the sender and the recipient, also when they are one', () => {
    const toSelf = transactionFacts({ to: alice })
    const { address_txs } = project(addressTxs, [transactionFacts(), toSelf])
    expect(address_txs).toMatchObject([
      { direction: 0, address: alice, counterparty: bob },
      { direction: 1, address: bob, counterparty: alice },
      { direction: 0, address: alice, counterparty: alice },
      { direction: 1, address: alice, counterparty: alice },
    ])
  })

  it('name the sender alone when there is no recipient', () => {
    const { address_txs } = project(addressTxs, [transactionFacts({ to: null })])
    expect(address_txs).toMatchObject([{ direction: 0, address: alice, counterparty: null }])
  })
})

describe('contract creations', () => {
  it('are those the receipt names, of transactions that succeeded', () => {
    const created = (status: 0 | 1 | null) => transactionFacts({ to: null, contractAddress: bob, status })
    const { contract_creations } = project(contractCreations, [
      transactionFacts(),
      created(0),
      created(null),
      created(1),
    ])
    expect(contract_creations).toMatchObject([{ creator: alice, contract: bob }])
  })
})
