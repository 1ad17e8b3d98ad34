import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * CSS pixels that the page shown takes. Pages scroll in their panel, so that the document is never
 * wider than the window.
 */
export const pageWidth = (page: Page): Promise<number> =>
  page
    .locator('body > [role=tabpanel]:visible')
    .first()
    .evaluate((panel) => panel.scrollWidth)

/** The whole element is inside a window of this size in CSS pixels, as far as its page is scrolled. */
export async function expectInside(
  element: Locator,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<void> {
  await expect.poll(() => element.boundingBox()).toMatchObject({ y: expect.any(Number) })
  const box = await element.boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(0)
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
}
