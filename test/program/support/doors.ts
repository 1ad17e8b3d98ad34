/** A client's steps from a question to a reward, the same by either door of a market. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { completePlan, type Plan } from '#orchestrator/plan/plan.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import type { Agent } from '../../orchestrator/support/mcpClients.ts'
import { newAddress } from './MarketPayer.ts'

type Members = Readonly<Record<string, unknown>>

export interface Door {
  /** Id of the service that is found first. */
  readonly find: (query: string) => Promise<unknown>
  /** Price of the plan, in dollars as decimal text. */
  readonly quote: (plan: Plan) => Promise<unknown>
  /** Id of the job, which is paid for. */
  readonly buy: (plan: Plan) => Promise<string>
  /** With its calls, as far as it is. */
  readonly job: (jobId: string) => Promise<Members>
  /** Reviewed by who proves to have paid; its reward. */
  readonly review: (jobId: string, review: Members) => Promise<Members>
  readonly rewardOf: (jobId: string) => Promise<Members>
}

/** As if each request came from an address of its own. */
export const fromAnywhere: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('x-forwarded-for', newAddress())
  return fetch(input, { ...init, headers })
}

/** HTTP. @param pay sends what is to be paid for @param prove sends what the payer proves to have said */
export function httpDoor(origin: string, pay: typeof fetch, prove: typeof fetch): Door {
  const told = async (answer: Response) => ({
    status: answer.status,
    body: membersOf(JSON.parse(await answer.text())),
  })
  const read = async (path: string) => told(await fromAnywhere(origin + path))
  const post = async (path: string, body: unknown, send: typeof fetch) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': newAddress() }
    return told(await send(origin + path, { method: 'POST', headers, body: JSON.stringify(body) }))
  }
  return {
    find: async (query) => {
      const { body } = await read(`/v1/services/search?${new URLSearchParams({ query, limit: '3' })}`)
      return membersOf(itemsOf(body['endpoints'])[0])['serviceId']
    },
    quote: async (plan) => (await post('/v1/quote', plan, fetch)).body['totalAmount'],
    buy: async (plan) => {
      const made = await post('/v1/jobs', { idempotencyKey: randomUUID(), plan }, pay)
      expect(made, JSON.stringify(made.body)).toMatchObject({ status: 200 })
      return String(made.body['jobId'])
    },
    job: async (jobId) => (await read(`/v1/jobs/${jobId}?include=runs`)).body,
    review: async (jobId, review) => {
      const made = await post(`/v1/jobs/${jobId}/feedback`, review, prove)
      expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
      return membersOf(made.body['reward'])
    },
    rewardOf: async (jobId) => membersOf((await read(`/v1/jobs/${jobId}/feedback`)).body['reward']),
  }
}

/** Tools of the agents' protocol. @param agent that pays what it is asked for */
export function toolDoor(agent: Agent): Door {
  const call = async (name: string, given: Members) => {
    const told = await agent.call(name, given)
    expect(told['isError'], JSON.stringify(told['content'])).toBeUndefined()
    return membersOf(told['structuredContent'])
  }
  return {
    find: async (query) => {
      const { endpoints } = await call('search_services', { query, limit: 3 })
      return membersOf(itemsOf(endpoints)[0])['serviceId']
    },
    quote: async (plan) => (await call('quote_plan', { plan: completePlan(plan) }))['totalAmount'],
    buy: async (plan) => {
      const order = { idempotency_key: randomUUID(), plan: completePlan(plan) }
      return String(membersOf((await call('create_job', order))['job'])['jobId'])
    },
    job: async (jobId) => membersOf((await call('get_job', { job_id: jobId }))['job']),
    review: async (jobId, review) =>
      membersOf((await call('create_job_review', { job_id: jobId, ...review }))['reward']),
    rewardOf: async (jobId) => membersOf((await call('get_job_review', { job_id: jobId }))['reward']),
  }
}
