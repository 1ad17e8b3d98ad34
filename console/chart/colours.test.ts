// Goal: series of a chart can be told apart by their colours, and from the ground.
// Method: distances in OKLab, as readers with and without red and green see them (Machado et al.
// 2009, whole loss); contrasts as WCAG has them.
import { expect, test } from 'vitest'
import { seriesColours } from './colours.ts'

type Triple = readonly [number, number, number]

/** `--surface` of console/web/frame.css. */
const grounds = { light: '#ffffff', dark: '#12181b' } as const
const sights = {
  whole: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  withoutGreen: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  withoutRed: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
} as const
const distancesMin = { whole: 0.14, withoutGreen: 0.08, withoutRed: 0.08 } as const

const times = (rows: readonly Triple[], [a, b, c]: Triple): Triple => {
  const [x = 0, y = 0, z = 0] = rows.map(([p, q, r]) => p * a + q * b + r * c)
  return [x, y, z]
}
const linear = (hex: string): Triple => {
  const part = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [part(1), part(3), part(5)]
}
const oklab = (rgb: Triple): Triple => {
  const [l, m, s] = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  )
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    [Math.cbrt(Math.max(0, l)), Math.cbrt(Math.max(0, m)), Math.cbrt(Math.max(0, s))],
  )
}
const luminance = (hex: string) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0]

for (const ground of ['light', 'dark'] as const) {
  const colours = seriesColours.map((colour) => colour[ground])

  test(`on a ${ground} ground every two colours differ`, () => {
    for (const sight of ['whole', 'withoutGreen', 'withoutRed'] as const) {
      const seen = colours.map((colour) => oklab(times(sights[sight], linear(colour))))
      const distances = seen.flatMap((a, index) =>
        seen.slice(index + 1).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])),
      )
      expect(Math.min(...distances), sight).toBeGreaterThan(distancesMin[sight])
    }
  })

  test(`on a ${ground} ground every colour is seen`, () => {
    for (const colour of colours) {
      const [a, b] = [luminance(colour), luminance(grounds[ground])]
      expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), colour).toBeGreaterThanOrEqual(3)
    }
  })
}
