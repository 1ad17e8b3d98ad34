/** The axis across: a scale of times or numbers, or names at places of equal width. */
import type uPlot from 'uplot'
import { isTime } from '../../chart/axes.ts'
import { shortened, timeLabel } from '../../model/labels.ts'
import { LABEL_CHARACTER_PX, roomPx, tickPx } from './look.ts'

export interface Across {
  readonly scale: uPlot.Scale
  readonly axis: uPlot.Axis
}

/** Heights and counts are whole: ticks between them would carry the same number twice. */
const wholeSteps = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((count) => count * 10 ** power),
).flat()

export function orderedAcross(type: string): Across {
  if (isTime(type))
    return {
      scale: { time: true },
      axis: {
        space: tickPx.x,
        values: (_chart, ticks, _axis, _space, stepMs) => ticks.map((ms) => timeLabel(ms, stepMs)),
      },
    }
  const isWhole = type !== 'float' && type !== 'numeric'
  return {
    scale: { time: false },
    axis: {
      space: tickPx.x,
      ...(isWhole && { incrs: wholeSteps }),
      values: (_chart, ticks) => ticks.map((tick) => tick.toLocaleString('en-US')),
    },
  }
}

/** One name per tick's width, cut to fit. */
export function namedAcross(names: ReadonlyMap<number, string>, width: number): Across {
  const stepPx = (width - roomPx.left - roomPx.right) / Math.max(1, names.size)
  const every = Math.max(1, Math.ceil(tickPx.x / stepPx))
  const characters = Math.max(4, Math.floor((every * stepPx - 12) / LABEL_CHARACTER_PX))
  return {
    scale: { time: false, range: () => [-0.5, names.size - 0.5] },
    axis: {
      splits: () => [...names.keys()].filter((_, index) => index % every === 0),
      values: (_chart, ticks) => ticks.map((tick) => shortened(names.get(tick) ?? '', characters)),
    },
  }
}
