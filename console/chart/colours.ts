/** Colours of the series of a chart, on a light and on a dark ground. */

interface SeriesColour {
  readonly light: string
  readonly dark: string
}

/**
 * Each differs from all others, also for readers who do not tell red from green. The first is the
 * accent of the console, the last a grey.
 */
export const seriesColours: readonly SeriesColour[] = [
  { light: '#0a6a70', dark: '#4fc4c4' },
  { light: '#e25c26', dark: '#e7963e' },
  { light: '#358bf6', dark: '#336cfa' },
  { light: '#751888', dark: '#6af99b' },
  { light: '#7a3528', dark: '#cd4805' },
  { light: '#2e2dc2', dark: '#fbd509' },
  { light: '#9e5cad', dark: '#a74fbb' },
  { light: '#8a969c', dark: '#7f8d95' },
]
