/**
 * A part of the program: one service, with its endpoints, what it gives to routes and to parts after
 * it, what it tells operators, what it runs and what it closes. `openParts.ts` lists them.
 */
import type { FastifyInstance } from 'fastify'
import type { Gauge } from 'prom-client'
import type { Quotas } from '#api/access/Quotas.ts'
import type { StatusReport } from '#api/routes/service/status.ts'
import type { ChainReads } from '#api/services.ts'
import type { Screen } from '#console/terminal/Screen.ts'
import type { Endpoint } from '#http/endpoint.ts'
import type { TokenNames } from '#present/tokenNames.ts'
import type { Secrets } from '#rows/secrets.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../config.ts'
import type { Program } from '../program.ts'
import type { OperatorLists } from './operatorLists.ts'
import type { WayOut } from './wayOut.ts'

/** The means that parts are opened with. */
export interface Base extends WayOut {
  readonly config: Config
  readonly program: Program
  readonly lists: OperatorLists
  readonly secrets: Secrets
  /** Each caller's limits, counted over all processes. */
  readonly quotas: Quotas
  /** Chain data, as routes read it. */
  readonly chains: ReadonlyMap<number, ChainReads>
  readonly tokenNames: TokenNames
  readonly runtime: Runtime
  readonly log: Logger
  readonly screen: Screen
  /** Notes for operators, from before any part. */
  readonly notes: readonly string[]
  /** The server, once it is made: a part may ask it as clients do. */
  readonly server: () => FastifyInstance
  /** Aborted when the program begins to end. */
  readonly shutdown: AbortSignal
}

/** While a part runs. */
export interface Running {
  /** The address of the server. */
  readonly address: string
  /** Aborted when the program begins to end. */
  readonly shutdown: AbortSignal
  /** Aborted when the last request has its answer. */
  readonly answered: AbortSignal
}

/** An open part; parts after it take what it has beyond this. */
export interface Part<Services extends object = object> {
  /** Merged with those of the other parts. */
  readonly services: Services
  /** Sentences for /status. */
  readonly notes?: readonly string[]
  /** Conditions that hold now, of the kinds that its definition names. */
  readonly problems?: () => readonly Alarm[]
  /** Numbers for /metrics. */
  readonly gauges?: readonly PartGauge[]
  /** Resolves some time after one of the signals; rejects where the service ends before. */
  readonly run?: (running: Running) => Promise<unknown>
  /** After it has run. */
  readonly close?: () => Promise<unknown>
}

/** Codes are those of the schema of /status. */
export type AlarmCode = StatusReport['alarms'][number]['code']

/** A condition that holds or does not; texts change while it holds. */
export interface Alarm {
  readonly chainId: number
  readonly code: AlarmCode
  /** In words; holds no secret. */
  readonly problem: string
}

export interface AlarmKind {
  readonly code: AlarmCode
  /**
   * It passes by itself within this time: only then is the owner called. 0 for what does not pass.
   */
  readonly passesMs: number
}

/** A gauge whose series are read anew each time it is asked for. */
export interface PartGauge {
  /** Without the program's prefix. */
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  readonly collect: (to: Pick<Gauge, 'set'>) => unknown
}

/** A part before it opens. */
export interface PartDefinition<
  Name extends string,
  Beside extends object,
  Opened extends Part,
  in Asked = unknown,
> {
  /** Parts after it find it under this name. */
  readonly name: Name
  /** The services that they ask for must be among those of all parts. */
  readonly endpoints?: readonly Endpoint<Asked>[]
  readonly alarms?: readonly AlarmKind[]
  /**
   * `beside`: the parts that it stands on. @throws what prevents it from working, each error naming
   * its setting
   */
  readonly open: (base: Base, beside: Beside) => Opened | Promise<Opened>
}

export const definePart = <
  const Name extends string,
  Beside extends object,
  Opened extends Part,
  Asked = unknown,
>(
  part: PartDefinition<Name, Beside, Opened, Asked>,
): PartDefinition<Name, Beside, Opened, Asked> => part
