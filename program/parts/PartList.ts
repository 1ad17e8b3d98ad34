/**
 * Parts in the order in which they open, each after those that it stands on: the compiler refuses
 * one that takes a part which no line before it names.
 */
import type { Endpoint } from '#http/endpoint.ts'
import type { AlarmKind, Base, Part, PartDefinition } from './part.ts'

/** Parts that are open. */
export interface OpenedParts<Beside extends object, Services extends object> {
  /** By name. */
  readonly beside: Beside
  readonly services: Services
  readonly all: readonly Part[]
}

export class PartList<Beside extends object = object, Services extends object = object, in Asked = unknown> {
  readonly endpoints: readonly Endpoint<Asked>[]
  readonly alarms: readonly AlarmKind[]
  /** One after another. @throws what prevents a part from working, each error naming its setting */
  readonly open: (base: Base) => Promise<OpenedParts<Beside, Services>>

  constructor(
    endpoints: readonly Endpoint<Asked>[],
    alarms: readonly AlarmKind[],
    open: (base: Base) => Promise<OpenedParts<Beside, Services>>,
  ) {
    this.endpoints = endpoints
    this.alarms = alarms
    this.open = open
  }

  /** The same parts and one more, which opens last. */
  with<const Name extends string, Opened extends Part, More>(
    part: PartDefinition<Name, Beside, Opened, More>,
  ): PartList<Beside & Record<Name, Opened>, Services & Opened['services'], Asked & More> {
    return new PartList<Beside & Record<Name, Opened>, Services & Opened['services'], Asked & More>(
      [...this.endpoints, ...(part.endpoints ?? [])],
      [...this.alarms, ...(part.alarms ?? [])],
      async (base) => {
        const { beside, services, all } = await this.open(base)
        const opened = await part.open(base, beside)
        // A key that is computed loses its name to the compiler.
        const named = { [part.name]: opened } as Record<Name, Opened>
        return {
          beside: { ...beside, ...named },
          services: { ...services, ...opened.services },
          all: [...all, opened],
        }
      },
    )
  }
}

export const noParts = new PartList([], [], async () => ({ beside: {}, services: {}, all: [] }))
