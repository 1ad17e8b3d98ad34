/** Signing in, organizations, keys and usage, asked of a running program. */
import { requireAnswer } from './indexerClient.ts'
import { parseFailure, RequestFailure } from './queryAnswer.ts'

export interface Person {
  readonly id: string
  /** Absent for the person at the machine of an open service. */
  readonly address?: string
}

export interface Org {
  readonly id: string
  readonly name: string
  readonly role: 'member' | 'admin' | 'owner'
}

export interface Project {
  readonly id: string
  readonly name: string
}

export interface Key {
  readonly id: string
  readonly projectId: string
  readonly name?: string
  readonly environment: string
  readonly scopes: readonly string[]
  readonly tokenLast4: string
  readonly createdAt: string
}

export interface Member {
  readonly userId: string
  readonly role: string
  readonly address?: string
}

export interface Invitation {
  readonly id: string
  readonly role: string
  readonly email: string
  readonly address?: string
  readonly expiresAt: string
}

export interface ReceivedInvitation extends Invitation {
  readonly orgName: string
}

export interface Scope {
  readonly scope: string
  readonly description: string
  readonly selfServe: boolean
}

interface Sums {
  readonly requests: number
  readonly errors: number
  readonly averageDurationMs: number
}

export interface Usage {
  readonly totals: Sums
  readonly series: readonly { readonly time: string; readonly requests: number; readonly errors: number }[]
  readonly byKey: readonly (Sums & { readonly apiKeyId: string })[]
  readonly byRoute: readonly (Sums & { readonly route: string })[]
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** `origin` is the address that the API's paths are relative to, with a slash at its end. */
export class AccountClient {
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Null for a person who has not signed in. @throws RequestFailure */
  async me(): Promise<Person | null> {
    try {
      return await this.ask<Person>('GET', 'v1/me')
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 401) return null
      throw error
    }
  }

  async list<Item>(path: string): Promise<readonly Item[]> {
    return (await this.ask<{ readonly data: readonly Item[] }>('GET', path)).data
  }

  /** The session is a cookie, which the browser sends by itself. @throws RequestFailure */
  async ask<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
    const signal = new AbortController().signal
    const response = await requireAnswer(signal, () =>
      fetch(new URL(path, this.#origin), {
        method,
        cache: 'no-store',
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    )
    if (response.status === 204) return {} as Answer
    const answer: unknown = await response.json().catch(() => null)
    // The server's own schema holds for the rest.
    if (response.ok) return answer as Answer
    throw parseFailure(answer, response.status)
  }
}

/** `0x1234…cdef`. */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`
