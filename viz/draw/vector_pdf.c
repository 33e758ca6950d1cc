/* vector_pdf.c - a draw list as PDF, by cairo.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include <cairo-ft.h>
#include <cairo-pdf.h>

#include "base/mem.h"
#include "viz/draw/draw_list.h"
#include "viz/draw/fonts.h"
#include "viz/draw/strokes.h"
#include "viz/draw/vector.h"

#define PT_A_PX 0.75 /* 96 px or 72 pt an inch */

struct pdf {
    const struct draw_list *d;
    cairo_t *to;
    cairo_font_face_t *faces[N_FACES];
    uint32_t clip; /* that is in force */
};

/* A font of cairo's own: cairo keeps faces beyond our calls, longer than the text engine may live. */
struct own_font {
    FT_Library library;
    FT_Face face;
};

static void free_own_font(void *p)
{
    struct own_font *f = p;
    if (f->face) FT_Done_Face(f->face);
    if (f->library) FT_Done_FreeType(f->library);
    free(f);
}

/* NULL when the font's file has gone since the text engine read it; cairo then takes a font of its own. */
static cairo_font_face_t *open_face(const struct font *font)
{
    static const cairo_user_data_key_t key;
    struct own_font *f = xcalloc(1, sizeof *f);
    if (FT_Init_FreeType(&f->library) || FT_New_Face(f->library, font->path, 0, &f->face))
        return free_own_font(f), NULL;
    cairo_font_face_t *face = cairo_ft_font_face_create_for_ft_face(f->face, FT_LOAD_NO_HINTING);
    cairo_font_face_set_user_data(face, &key, f, free_own_font);
    return face;
}

static void set_colour(cairo_t *to, uint32_t argb)
{
    cairo_set_source_rgba(to, (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0, (argb & 255) / 255.0,
                          (argb >> 24) / 255.0);
}

static void add_box(cairo_t *to, struct area a)
{
    cairo_rectangle(to, a.x0, a.y0, a.x1 - a.x0, a.y1 - a.y0);
}

static void use_clip(struct pdf *p, uint32_t clip)
{
    if (p->clip == clip) return;
    if (p->clip) cairo_restore(p->to);
    p->clip = clip;
    if (!clip) return;
    cairo_save(p->to);
    add_box(p->to, p->d->clips.v[clip]);
    cairo_clip(p->to);
}

/* Colour, and the lines of the pattern as a tile that repeats. */
static void set_pattern(cairo_t *to, uint32_t argb, enum pattern pattern)
{
    const struct strokes *k = pattern_strokes(pattern);
    cairo_surface_t *tile = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA,
                                                           &(cairo_rectangle_t){0, 0, PATTERN_TILE, PATTERN_TILE});
    cairo_t *c = cairo_create(tile);
    set_colour(c, argb);
    cairo_paint(c);
    set_colour(c, theme_pattern_tone(argb));
    cairo_set_line_width(c, (double)k->width);
    for (unsigned i = 0; i < k->n; i++) {
        cairo_move_to(c, (double)k->v[i].x0, (double)k->v[i].y0);
        cairo_line_to(c, (double)k->v[i].x1, (double)k->v[i].y1);
    }
    cairo_stroke(c);
    cairo_destroy(c);
    cairo_set_source_surface(to, tile, 0, 0);
    cairo_pattern_set_extend(cairo_get_source(to), CAIRO_EXTEND_REPEAT);
    cairo_surface_destroy(tile);
}

static void set_paint(cairo_t *to, uint32_t argb, uint32_t pattern)
{
    if (pattern == PATTERN_SOLID)
        set_colour(to, argb);
    else
        set_pattern(to, argb, (enum pattern)pattern);
}

static void put_frame(cairo_t *to, const struct item *i)
{
    struct area a = i->box.area;
    int w = (int)i->box.width;
    set_colour(to, i->argb);
    add_box(to, a);
    if (a.x1 - a.x0 > 2 * w && a.y1 - a.y0 > 2 * w) add_box(to, (struct area){a.x0 + w, a.y0 + w, a.x1 - w, a.y1 - w});
    cairo_set_fill_rule(to, CAIRO_FILL_RULE_EVEN_ODD);
    cairo_fill(to);
    cairo_set_fill_rule(to, CAIRO_FILL_RULE_WINDING);
}

static void put_path(struct pdf *p, const struct item *i)
{
    const struct point *v = p->d->points.v + i->path.first;
    for (uint32_t k = 0; k < i->path.n; k++) cairo_line_to(p->to, (double)v[k].x, (double)v[k].y);
    set_paint(p->to, i->argb, i->path.pattern);
    if (i->kind == ITEM_POLYGON) {
        cairo_close_path(p->to);
        cairo_fill(p->to);
        return;
    }
    cairo_set_line_width(p->to, (double)i->path.width);
    cairo_set_line_join(p->to, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(p->to);
}

/* One glyph and one cluster a character, so that the text can be searched and copied. */
static void put_text(struct pdf *p, const struct item *i)
{
    struct font *font = &p->d->text->fonts[i->text.face];
    const char *text = p->d->chars.v + i->text.first, *at = text;
    size_t bytes = strlen(text);
    double scale = (double)i->text.size / (double)font->units, units = 0;
    cairo_glyph_t *glyphs = xcalloc(bytes, sizeof *glyphs);
    cairo_text_cluster_t *clusters = xcalloc(bytes, sizeof *clusters);
    struct str utf8 = {0};
    int n = 0;
    for (const char *from = at; *from; from = at, n++) {
        uint32_t c = text_next(&at);
        struct letter l = font_letter(font, c);
        bool whole = c != 0xfffd;
        str_append_n(&utf8, whole ? from : "\xef\xbf\xbd", whole ? (size_t)(at - from) : 3);
        glyphs[n] = (cairo_glyph_t){l.index, i->text.x + units * scale, i->text.y};
        clusters[n] = (cairo_text_cluster_t){whole ? (int)(at - from) : 3, 1};
        units += l.advance;
    }
    set_colour(p->to, i->argb);
    cairo_set_font_face(p->to, p->faces[i->text.face]);
    cairo_set_font_size(p->to, (double)i->text.size);
    cairo_show_text_glyphs(p->to, utf8.s, (int)utf8.n, glyphs, n, clusters, n, 0);
    str_free(&utf8);
    free(clusters);
    free(glyphs);
}

/* cairo wants colours multiplied by their alpha. */
static void put_raster(struct pdf *p, const struct item *i)
{
    const struct raster *r = &p->d->rasters.v[i->raster.raster];
    if (r->w == 0 || r->h == 0) return;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)r->w, (int)r->h);
    unsigned char *rows = cairo_image_surface_get_data(image);
    for (unsigned y = 0; rows && y < r->h; y++) {
        uint32_t *row = (uint32_t *)(void *)(rows + (size_t)y * (size_t)cairo_image_surface_get_stride(image));
        for (unsigned x = 0; x < r->w; x++) {
            uint32_t c = r->argb[(size_t)y * r->w + x], a = c >> 24;
            row[x] = a << 24 | (c >> 16 & 255) * a / 255 << 16 | (c >> 8 & 255) * a / 255 << 8 | (c & 255) * a / 255;
        }
    }
    cairo_surface_mark_dirty(image);
    cairo_set_source_surface(p->to, image, i->raster.x, i->raster.y);
    cairo_pattern_set_filter(cairo_get_source(p->to), CAIRO_FILTER_NEAREST);
    cairo_paint(p->to);
    cairo_surface_destroy(image);
}

static void put_item(struct pdf *p, const struct item *i)
{
    use_clip(p, i->clip);
    cairo_new_path(p->to);
    switch (i->kind) {
    case ITEM_FILL:
        set_paint(p->to, i->argb, i->box.pattern);
        add_box(p->to, area_within(i->box.area, p->d->clips.v[i->clip]));
        cairo_fill(p->to);
        break;
    case ITEM_FRAME: put_frame(p->to, i); break;
    case ITEM_POLYGON:
    case ITEM_POLYLINE: put_path(p, i); break;
    case ITEM_TEXT: put_text(p, i); break;
    case ITEM_RASTER: put_raster(p, i); break;
    }
}

static cairo_status_t on_bytes(void *out, const unsigned char *bytes, unsigned n)
{
    str_append_n(out, (const char *)bytes, n);
    return CAIRO_STATUS_SUCCESS;
}

static void put_items(struct pdf *p)
{
    for (unsigned i = 0; i < N_FACES; i++) p->faces[i] = open_face(&p->d->text->fonts[i]);
    cairo_scale(p->to, PT_A_PX, PT_A_PX);
    for (size_t i = 0; i < p->d->items.n; i++)
        if (!area_empty(p->d->clips.v[p->d->items.v[i].clip])) put_item(p, &p->d->items.v[i]);
    use_clip(p, 0);
    cairo_show_page(p->to);
    for (unsigned i = 0; i < N_FACES; i++)
        if (p->faces[i]) cairo_font_face_destroy(p->faces[i]);
}

void vector_pdf(const struct draw_list *d, struct str *out)
{
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(on_bytes, out, (double)d->w * PT_A_PX, (double)d->h * PT_A_PX);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    struct pdf p = {.d = d, .to = cairo_create(surface)};
    put_items(&p);
    cairo_destroy(p.to);
    cairo_surface_destroy(surface);
}
