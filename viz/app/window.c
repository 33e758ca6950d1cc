/* window.c - the window: SDL2 brings events and shows one texture, into which the pixel back end painted.
 *
 * Painted only when something changed. Printable keys come as text (SDL_TEXTINPUT), the others and those with Ctrl as keys. On a
 * display of high density all is drawn in its pixels, with type scaled by its factor.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <SDL2/SDL.h>
#include <stdlib.h>
#include <string.h>

#include "viz/app/app.h"
#include "viz/draw/pixels.h"
#include "viz/ui/picture.h"

enum { POLL_MS = 100, FRAME_MS = 15, IDLE_MS = 500 };

struct window {
    struct app *app;
    struct ui *u;
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    struct pixels *pixels;
    struct draw_list *list;
    float density; /* pixels of the output a unit of the window */
    Uint32 polled, ticked;
    unsigned mods; /* UI_SHIFT ... held at the event that is looked at; SDL_GetModState is ahead of it, at the last that has come */
};

static int fail(const char *what)
{
    fprintf(stderr, "trainyard-view: %s: %s; --screenshot, --script and --dump-state need no display\n", what, SDL_GetError());
    return EXIT_IO;
}

/* ---- events ---- */

static unsigned mods_of(Uint16 mod)
{
    return (mod & KMOD_SHIFT ? UI_SHIFT : 0u) | (mod & KMOD_CTRL ? UI_CTRL : 0u) | (mod & KMOD_ALT ? UI_ALT : 0u);
}

/* 0: comes as text, or means nothing here. */
static int key_of(const SDL_Keysym *k)
{
    static const struct {
        SDL_Keycode from;
        int to;
    } keys[] = {
        {SDLK_ESCAPE, UI_ESC},        {SDLK_RETURN, UI_ENTER}, {SDLK_KP_ENTER, UI_ENTER},  {SDLK_TAB, UI_TAB},     {SDLK_BACKSPACE, UI_BACKSPACE},
        {SDLK_DELETE, UI_DELETE},     {SDLK_LEFT, UI_LEFT},    {SDLK_RIGHT, UI_RIGHT},     {SDLK_UP, UI_UP},       {SDLK_DOWN, UI_DOWN},
        {SDLK_HOME, UI_HOME},         {SDLK_END, UI_END},      {SDLK_PAGEUP, UI_PAGE_UP},  {SDLK_PAGEDOWN, UI_PAGE_DOWN}, {SDLK_F1, UI_F1},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].from == k->sym) return keys[i].to;
    bool ctrl = k->mod & KMOD_CTRL;
    if (ctrl && k->sym == SDLK_KP_PLUS) return '+';
    if (ctrl && k->sym == SDLK_KP_MINUS) return '-';
    return ctrl && k->sym > ' ' && k->sym < 0x7f ? (int)k->sym : 0;
}

static void on_button(struct window *w, const SDL_MouseButtonEvent *b)
{
    enum ui_button button = b->button == SDL_BUTTON_LEFT ? UI_BUTTON_LEFT : b->button == SDL_BUTTON_MIDDLE ? UI_BUTTON_MIDDLE : UI_BUTTON_RIGHT;
    struct ui_event e = {.kind = b->type == SDL_MOUSEBUTTONDOWN ? UI_PRESS : UI_RELEASE, .button = button, .mods = w->mods};
    e.x = (float)b->x * w->density;
    e.y = (float)b->y * w->density;
    ui_event(w->u, &e);
}

static void on_wheel(struct window *w, const SDL_MouseWheelEvent *m)
{
    struct ui_event e = {.kind = UI_WHEEL, .wheel = m->preciseY, .mods = w->mods};
    if (m->direction == SDL_MOUSEWHEEL_FLIPPED) e.wheel = -e.wheel;
    e.x = (float)m->mouseX * w->density;
    e.y = (float)m->mouseY * w->density;
    ui_event(w->u, &e);
}

static void on_event(struct window *w, const SDL_Event *s)
{
    struct ui_event e = {0};
    switch (s->type) {
    case SDL_QUIT: w->u->quit = true; return;
    case SDL_KEYDOWN:
    case SDL_KEYUP:
        w->mods = mods_of(s->key.keysym.mod);
        e = (struct ui_event){.kind = UI_KEY, .key = key_of(&s->key.keysym), .mods = w->mods};
        if (e.key && s->type == SDL_KEYDOWN) ui_event(w->u, &e);
        return;
    case SDL_TEXTINPUT:
        e.kind = UI_TEXT;
        snprintf(e.text, sizeof e.text, "%s", s->text.text);
        if (!(w->mods & UI_CTRL)) ui_event(w->u, &e);
        return;
    case SDL_MOUSEWHEEL: on_wheel(w, &s->wheel); return;
    case SDL_MOUSEMOTION:
        e = (struct ui_event){.kind = UI_MOVE, .x = (float)s->motion.x * w->density, .y = (float)s->motion.y * w->density};
        ui_event(w->u, &e);
        return;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: on_button(w, &s->button); return;
    case SDL_WINDOWEVENT: w->u->dirty = true; return;
    default: return;
    }
}

/* ---- pictures ---- */

static bool fit_output(struct window *w)
{
    int pw = 0, ph = 0, ww = 0, wh = 0;
    SDL_GetRendererOutputSize(w->renderer, &pw, &ph);
    SDL_GetWindowSize(w->window, &ww, &wh);
    if (pw <= 0 || ph <= 0) return false;
    w->density = ww > 0 ? (float)pw / (float)ww : 1;
    if ((float)pw != w->u->w || (float)ph != w->u->h) ui_event(w->u, &(struct ui_event){.kind = UI_RESIZE, .x = (float)pw, .y = (float)ph});
    if (w->texture && w->pixels->w == (unsigned)pw && w->pixels->h == (unsigned)ph) return true;
    if (w->texture) SDL_DestroyTexture(w->texture);
    pixels_destroy(w->pixels);
    w->pixels = pixels_create((unsigned)pw, (unsigned)ph);
    w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING, pw, ph);
    w->u->dirty = true;
    return w->texture != NULL;
}

static void paint(struct window *w)
{
    if (!fit_output(w) || !w->u->dirty) return;
    ui_draw(w->u, w->list);
    pixels_paint(w->pixels, w->list);
    SDL_UpdateTexture(w->texture, NULL, w->pixels->argb, (int)(w->pixels->w * sizeof *w->pixels->argb));
    SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
    SDL_RenderPresent(w->renderer);
}

/* ---- the loop ---- */

static void poll(struct window *w)
{
    Uint32 now = SDL_GetTicks();
    bool any = false;
    if (!w->u->follow || now - w->polled < POLL_MS) return;
    w->polled = now;
    for (unsigned i = 0; i < ui_n_runs(w->u); i++) any |= scene_poll((struct scene *)(uintptr_t)ui_scene_at(w->u, i));
    if (any) ui_grown(w->u);
}

static const char *title_of(const struct ui *u) { return u->n_runs ? u->runs[0].scene->title : "Trainyard"; }

static void look(struct window *w)
{
    Uint32 now = SDL_GetTicks();
    if (!w->app->waits || now - w->polled < IDLE_MS) return;
    w->polled = now;
    if (!app_look(w->app)) return;
    w->u = w->app->ui;
    w->ticked = now;
    SDL_SetWindowTitle(w->window, title_of(w->u));
}

static void tick(struct window *w)
{
    Uint32 now = SDL_GetTicks();
    ui_tick(w->u, (now - w->ticked) / 1000.0);
    w->ticked = now;
}

static void loop(struct window *w)
{
    SDL_Event e;
    while (!w->u->quit) {
        bool follows = w->u->follow && w->u->n_runs;
        int wait = w->u->playing ? FRAME_MS : follows ? POLL_MS : IDLE_MS;
        bool any = SDL_WaitEventTimeout(&e, w->u->dirty ? 0 : wait);
        for (; any; any = SDL_PollEvent(&e)) on_event(w, &e);
        look(w);
        tick(w);
        poll(w);
        paint(w);
    }
}

static bool window_open(struct window *w)
{
    const Uint32 flags = SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    SDL_SetHint(SDL_HINT_VIDEO_HIGHDPI_DISABLED, "0");
    w->window = SDL_CreateWindow(title_of(w->u), SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, (int)w->u->w, (int)w->u->h, flags);
    if (!w->window) return false;
    w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_PRESENTVSYNC);
    if (!w->renderer) w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_SOFTWARE);
    return w->renderer != NULL;
}

static void scale_type(struct window *w)
{
    fit_output(w);
    if (w->density > 1.05f) ui_font_scale(w->u, w->u->font_scale * w->density);
}

static int quit_dump(struct ui *u, const char *file)
{
    char *err = NULL;
    if (!file || ui_dump_write(u, file, &err)) return EXIT_OK;
    fprintf(stderr, "trainyard-view: %s\n", err);
    free(err);
    return EXIT_IO;
}

int app_window(struct app *a)
{
    struct window w = {.app = a, .u = a->ui, .density = 1};
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return fail("no window can be opened");
    int code = EXIT_OK;
    if (window_open(&w)) {
        w.list = draw_create(a->text);
        SDL_StartTextInput();
        scale_type(&w);
        w.ticked = SDL_GetTicks();
        loop(&w);
        code = quit_dump(w.u, a->options->dump_on_quit);
        draw_destroy(w.list);
    } else {
        code = fail("no window can be opened");
    }
    if (w.texture) SDL_DestroyTexture(w.texture);
    if (w.renderer) SDL_DestroyRenderer(w.renderer);
    if (w.window) SDL_DestroyWindow(w.window);
    pixels_destroy(w.pixels);
    SDL_Quit();
    return code;
}
