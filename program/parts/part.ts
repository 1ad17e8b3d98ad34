/**
 * A part of the program: one service, with what it gives to routes, what it tells operators, what
 * it runs and what it closes. `openParts.ts` lists them.
 */
import type { FastifyInstance } from 'fastify'
import type { Quotas } from '#api/access/Quotas.ts'
import type { ChainReads } from '#api/services.ts'
import type { Screen } from '#console/terminal/screen.ts'
import type { TokenNames } from '#present/tokenNames.ts'
import type { Secrets } from '#rows/secrets.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../config.ts'
import type { Program } from '../program.ts'
import type { OperatorLists } from './operatorLists.ts'
import type { WayOut } from './wayOut.ts'

/** What parts are opened with. */
export interface Base extends WayOut {
  readonly config: Config
  readonly program: Program
  readonly lists: OperatorLists
  readonly secrets: Secrets
  /** What each caller may have, counted over all processes. */
  readonly quotas: Quotas
  /** Chain data, as routes read it. */
  readonly chains: ReadonlyMap<number, ChainReads>
  readonly tokenNames: TokenNames
  readonly runtime: Runtime
  readonly log: Logger
  readonly screen: Screen
  /** What operators should know, from before any part. */
  readonly notes: readonly string[]
  /** The server, once it is made: a part may ask it as clients do. */
  readonly server: () => FastifyInstance
  /** Aborted when the program begins to end. */
  readonly shutdown: AbortSignal
}

/** While a part runs. */
export interface Running {
  /** Where the server answers. */
  readonly address: string
  /** Aborted when the program begins to end. */
  readonly shutdown: AbortSignal
  /** Aborted when the last request has its answer. */
  readonly answered: AbortSignal
}

export interface Part<Services extends object = object> {
  /** Merged with those of the other parts. */
  readonly services: Services
  /** Sentences for /status. */
  readonly notes?: readonly string[]
  /** Resolves some time after one of the signals; rejects where the service ends before. */
  readonly run?: (running: Running) => Promise<unknown>
  /** After it has run. */
  readonly close?: () => Promise<unknown>
}
